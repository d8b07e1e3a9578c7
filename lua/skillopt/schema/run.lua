--- Keys of the run itself: its name, what it may spend, where children may write.
---
--- A row of the schema is `{ name, type, doc, ... }`; its other fields are described in
--- skillopt.schema.
return {
  { "name", "string", "name of the experiment; default: the file's or its folder's name",
    class = "run", flat = "name" },
  { "sandbox", "choice", "isolation of child processes: `none` runs them with your own "
    .. "rights; `auto`, isolated, is to come, and without a word they are refused",
    choices = { "auto", "none" }, flat = "sandbox", feature = "a sandbox for child processes",
    later = false, asks = "any" },
  { "spend.cost", "number", "most the run may cost, in US dollars; `none` = no cap",
    min = 0, off = true, class = "cost" },
  { "spend.tokens", "integer", "most tokens the run may use, both roles; `none` = no cap",
    min = 0, off = true, class = "cost" },
  { "spend.calls", "integer", "most model calls the run may make; `none` = no cap",
    min = 0, off = true, class = "cost" },
  { "spend.prices", "list", "prices, `MODEL=INPUT/OUTPUT` or `MODEL=INPUT/OUTPUT/CACHED` "
    .. "each, in US dollars for a million tokens", class = "cost", flat = "price" },
}
