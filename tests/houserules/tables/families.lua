--- Everyday forms and house forms of the library and museum.
return {
  lent = {
    kind = "date", ruled = true, raw = "{Month} {d}, {yyyy}",
    forms = { { "{yyyy}.{mm}.{dd}" }, { "{dd}-{Mon}-{yyyy}" }, { "{d}/{m} {yyyy}" },
      { "year {yyyy}, {dd} {Mon}" } },
  },
  back = {
    kind = "date", ruled = true, raw = "{Month} {d}, {yyyy}",
    forms = { { "{mm}{dd}" }, { "due {d} {Month}" }, { "{Mon} {dd} (at closing)" } },
  },
  person = {
    kind = "person", ruled = true, raw = "{Given} {Family}",
    forms = { { "{Family}/{Given}" }, { "{G}{F}" }, { "Reader {Family}" },
      { "{family}-{given}" } },
  },
  fee = {
    kind = "number", ruled = true, raw = "${n}", least = 125, most = 990000, decimals = 2,
    group = ",",
    forms = { { "USD {n}", group = "" }, { "{n} cents", factor = 100, group = "" },
      { "{n} dollars" },
      { "{n} $", point = ",", group = "." } },
  },
  mass = {
    kind = "number", ruled = true, raw = "{n} lb", least = 2, most = 90, step = 4,
    forms = { { "{n} oz", factor = 16 }, { "{n} quarter-stones", divisor = 4 },
      { "lb: {n}" } },
  },
  width = {
    kind = "number", ruled = true, raw = "{n} ft", least = 3, most = 60,
    forms = { { "{n} in", factor = 12 }, { "{n} yards", divisor = 3 }, { "{n}'" } },
  },
  damp = {
    kind = "number", ruled = true, raw = "{n} percent", least = 201, most = 799,
    decimals = 1,
    forms = { { "{n}", divisor = 100 }, { "{n}% RH" }, { "RH {n}", point = "," } },
  },
  span = {
    kind = "number", ruled = true, raw = "{n} hours", least = 1, most = 14, decimals = 0,
    forms = { { "{n} minutes", factor = 60 }, { "{n}h" },
      { "{n} sessions", factor = 2 } },
  },
  seats = {
    kind = "number", ruled = true, raw = "{n}", least = 2, most = 30, step = 8,
    forms = { { "{n} rows", divisor = 8 }, { "{n} seats" }, { "cap. {n}" } },
  },
  hour = {
    kind = "time", ruled = true, raw = "{h}.{mm}{ap}",
    forms = { { "{HH}:{mm}" }, { "{H} h {mm}" }, { "{HH}{mm} hrs" } },
  },
  topics = {
    kind = "list", ruled = true, from = "subject", raw = { join = "; " },
    forms = { { order = "sorted", join = " > " }, { join = " & " },
      { order = "reversed", join = "-" },
      { order = "sorted", join = ", ", case = "capitals" } },
  },
  state = {
    kind = "choice", ruled = true, raw = { "true", "false", "pending" },
    forms = { { "aye", "nay", "wait" }, { "+", "-", "?" }, { "T", "F", "P" },
      { "done", "not done", "in hand" } },
  },
  mark = {
    kind = "code", ruled = true, from = "letters", raw = "{ab}/{nnnn}",
    forms = { { "{ab}{nnnn}" }, { "No. {nnnn} ({ab})" }, { "{nnnn}:{ab}" } },
  },
  call = {
    kind = "phone", ruled = true, raw = "({zone}) {head}-{tail}",
    forms = { { "{zone}.{head}.{tail}" }, { "+1 {zone}{head}{tail}" },
      { "{head}-{tail}" } },
  },
  lost = {
    kind = "choice", ruled = true, anywhere = true, raw = { "not recorded" },
    forms = { { "no data" }, { "--" }, { "ask the desk" } },
  },
  room = { kind = "word", from = "room" },
  title = { kind = "word", from = "title" },
}
