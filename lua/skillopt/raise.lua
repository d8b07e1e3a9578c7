--- Raise an error that a person can mend and another try cannot.

---@param kind skillopt.ErrKind
---@param message string
---@param hint string? what to do about it
return function(kind, message, hint)
  error({ kind = kind, message = message, hint = hint, retry = false }, 0)
end
