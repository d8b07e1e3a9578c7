--- The folder for large files without a name, which may go at any time: the one that is
--- given, or one that is on a disk everywhere (/tmp may be memory).

---@param given string? default: $TMPDIR; empty for none
---@return string
return function(given)
  given = given or os.getenv "TMPDIR"
  return given and given ~= "" and given or "/var/tmp"
end
