--- Families of values: how a value stands in a record (`raw`), and the house forms of
--- which a seed draws one. Names in braces are fields that generator.lua makes from the
--- drawn value. `ruled` families may get a house form; the others stay as they stand.
return {
  date = {
    kind = "date", ruled = true, raw = "{d} {Month} {yyyy}",
    forms = {
      { "{yyyy}-{mm}-{dd}" }, { "{dd}.{mm}.{yyyy}" }, { "{mm}/{dd}/{yy}" },
      { "{Mon} {d}, {yyyy}" },
      { "{yyyy}/{m}/{d}" }, { "{dd}{MON}{yy}" }, { "{yyyy}{mm}{dd}" },
      { "{d}. {m}. {yyyy}" },
    },
  },
  due = {
    kind = "date", ruled = true, raw = "{d} {Month} {yyyy}",
    forms = {
      { "not after {yyyy}-{mm}-{dd}" }, { "{d} {Mon} {yyyy}" }, { "latest {dd}.{mm}.{yy}" },
      { "{Month} {yyyy}" },
      { "{mm}-{yyyy}" },
    },
  },
  person = {
    kind = "person", ruled = true, raw = "{Given} {Family}",
    forms = {
      { "{Family}, {Given}" }, { "{G}. {Family}" }, { "{FAMILY} {Given}" },
      { "{Family} {G}." },
      { "{g}.{family}" }, { "{FAMILY}, {G}." },
    },
  },
  money = {
    kind = "number", ruled = true, raw = "{n} EUR", least = 2000, most = 480000,
    decimals = 2, group = ",",
    forms = {
      { "EUR {n}" }, { "{n} EUR", group = ".", point = "," }, { "{n} ct", factor = 100 },
      { "{n}", group = "" }, { "E{n}", group = " " }, { "{n} euro", group = "'" },
    },
  },
  weight = {
    kind = "number", ruled = true, raw = "{n} kg", least = 11, most = 985, decimals = 1,
    forms = {
      { "{n} g", factor = 1000 }, { "{n} dag", factor = 100 }, { "{n} kg", point = "," },
      { "kg {n}" },
      { "{n} pounds", factor = 2 }, { "{n}kg" },
    },
  },
  length = {
    kind = "number", ruled = true, raw = "{n} m", least = 11, most = 425, decimals = 1,
    forms = {
      { "{n} cm", factor = 100 }, { "{n} mm", factor = 1000 }, { "{n} dm", factor = 10 },
      { "{n} m", point = "," }, { "m {n}" }, { "{n} ells", factor = 2.5 },
    },
  },
  height = {
    kind = "number", ruled = true, raw = "{n} m", least = 11, most = 425, decimals = 1,
    forms = {
      { "{n} cm high", factor = 100 }, { "h {n}" }, { "{n} hands", factor = 10 },
      { "{n} m", point = "," },
      { "{n} mm", factor = 1000 },
    },
  },
  duration = {
    kind = "number", ruled = true, raw = "{n} min", least = 1, most = 20, step = 15,
    forms = {
      { "{n} h", divisor = 60 }, { "{n} s", factor = 60 }, { "{n}'" },
      { "{n} quarters", divisor = 15 },
      { "mins {n}" },
    },
  },
  count = {
    kind = "number", ruled = true, raw = "{n} pieces", least = 2, most = 40, step = 12,
    forms = {
      { "{n} dozen", divisor = 12 }, { "{n} boxes", divisor = 6 }, { "x{n}" },
      { "{n} pcs" },
      { "{n} twos", divisor = 2 },
    },
  },
  share = {
    kind = "number", ruled = true, raw = "{n}%", least = 11, most = 985, decimals = 1,
    forms = {
      { "{n}", divisor = 100 }, { "{n} per mille", factor = 10 }, { "{n} pct" },
      { "{n} %", point = "," },
      { "{n} of 100" },
    },
  },
  time = {
    kind = "time", ruled = true, raw = "{h}:{mm} {ap}",
    forms = {
      { "{HH}:{mm}" }, { "{HH}{mm}h" }, { "{H}h{mm}" }, { "{HH}.{mm}" },
      { "{H}:{mm} o'clock" },
    },
  },
  list = {
    kind = "list", ruled = true, from = "shade", raw = { join = ", ", last = " and " },
    forms = {
      { order = "sorted", join = " / " }, { order = "sorted", join = "; " },
      { join = " + " },
      { order = "reversed", join = ", " },
      { order = "sorted", join = ",", case = "capitals" },
      { join = "|" },
    },
  },
  check = {
    kind = "choice", ruled = true, raw = { "yes", "no" },
    forms = {
      { "affirmative", "negative" }, { "Y", "N" }, { "confirmed", "denied" },
      { "1", "0" },
      { "verified", "disputed" },
    },
  },
  code = {
    kind = "code", ruled = true, from = "letters", raw = "{ab}-{nnnn}",
    forms = {
      { "{AB}{nnnn}" }, { "{AB} {nnnn}" }, { "{nnnn}-{AB}" }, { "#{nnnn}/{ab}" },
      { "{AB}.{nnnn}" },
    },
  },
  phone = {
    kind = "phone", ruled = true, raw = "{area} {head} {tail}",
    forms = {
      { "+49 {zone} {head}{tail}" }, { "{area}/{head}{tail}" },
      { "({area}) {head}-{tail}" },
      { "{area}.{head}.{tail}" }, { "{head} {tail}" },
    },
  },
  missing = {
    kind = "choice", ruled = true, anywhere = true, raw = { "unknown" },
    forms = { { "not on file" }, { "no entry" }, { "left empty" }, { "n/a" }, { "(not given)" } },
  },
  place = { kind = "word", from = "place" },
  goods = { kind = "word", from = "goods" },
}
