--- nil and an error that a person can mend and another try cannot: what `raise` raises, for
--- functions that return their errors.

---@param kind skillopt.ErrKind
---@param message string
---@param hint string? what to do about it
---@return nil
---@return skillopt.Err err
return function(kind, message, hint)
  return nil, { kind = kind, message = message, hint = hint, retry = false }
end
