local unloading = mode() == "unload"
local shell = myShellType()
local tag = myModuleFullName():gsub("%W", "_") .. "_"

-- Module systems lose, or hand to the shell as commands, what follows a line end in a value, and
-- csh sees more in values than they know of. Such values are written for the shell here.
local function is_plain(value)
    if shell == "csh" then return not value or not value:find("[^%w_/.:=+,@%%-]") end
    return not value or not value:find("\n", 1, true)
end

local function octal(character) return ("\\%03o"):format(character:byte()) end

local function tell(name, value)
    -- What only shows the module changes no shell.
    if mode() ~= "load" and not unloading then return end
    local text
    if shell == "csh" then
        text = value and "setenv " .. name .. " $'" .. value:gsub("[^%w_/.:=+,@%%\128-\255-]", octal) .. "'"
            or "unsetenv " .. name
    elseif shell == "fish" then
        text = value and "set -gx " .. name .. " '" .. value:gsub("[\\']", "\\%0") .. "'" or "set -e " .. name
    else
        text = value and "export " .. name .. "='" .. value:gsub("'", "'\\''") .. "'" or "unset " .. name
    end
    execute { cmd = text, modeA = { mode() } }
end

-- Lmod sees of such a variable nothing but plain text that stands for its value, or for none. It may
-- load, unload and load in one run: what it sees is then what holds.
local function encoded(value)
    if not value then return "@gpkg@-" end
    return "@gpkg@+" .. value:gsub("[^%w_/.:=+,-]", function(c) return ("%%%02x"):format(c:byte()) end)
end

local function current(name)
    local seen = os.getenv(name)
    if not seen or seen:sub(1, 6) ~= "@gpkg@" then return seen end
    if seen == "@gpkg@-" then return nil end
    return (seen:sub(8):gsub("%%(%x%x)", function(code) return string.char(tonumber(code, 16)) end))
end

-- `value` is false for a variable that is to be unset. setenv would lose what the user had.
local function put(name, value)
    local mark = "__GPKG_TOLD_" .. tag .. name
    if unloading then
        pushenv(name, value)
        if os.getenv(mark) then
            setenv(mark, "1")
            tell(name, current(name))
        end
        return
    end
    local old = current(name)
    if is_plain(value) and is_plain(old) and old == os.getenv(name) then
        pushenv(name, value)
    else
        setenv(mark, "1")
        setenv(name, encoded(old))
        pushenv(name, encoded(value))
        tell(name, value)
    end
end

local function set(name, value) put(name, value) end

local function set_if_unset(name, value) put(name, current(name) or value) end

local function unset(name)
    if unloading or current(name) then put(name, false) end
end

-- prepend_path tidies the whole list: doubles, "//" and empty entries go, which may mean something.
-- Where it would change the list, that is kept and given back as a whole; PATH, which every module
-- adds to, never is.
local function is_tidy(list)
    local seen = {}
    for entry in (list .. ":"):gmatch("(.-):") do
        if entry == "" or seen[entry] or entry:find("//", 1, true) or entry:find("/%.?/?$") or
           entry:find("/./", 1, true) or entry:find("^%s") or entry:find("%s$") or not is_plain(entry) then
            return false
        end
        seen[entry] = true
    end
    return true
end

local function add(name, value, separator, behind)
    local mark = "__GPKG_WHOLE_" .. tag .. name
    local old = current(name)
    local whole = separator == " " or (name ~= "PATH" and not is_tidy(value))
    if not whole and name ~= "PATH" then
        if unloading then whole = os.getenv(mark) else whole = old and not is_tidy(old) end
    end
    if not whole then
        if behind then append_path(name, value) else prepend_path(name, value) end
        return
    end
    if separator == ":" then setenv(mark, "1") end
    if not old or old == "" then
        put(name, value)
    elseif behind then
        put(name, old .. separator .. value)
    else
        put(name, value .. separator .. old)
    end
end

local function check_none_is_active(prefix)
    local active = current("CONDA_PREFIX")
    local is_other = active and active ~= "" and active ~= prefix
    if mode() == "load" and is_other and not current("GPKG_MODULE") then
        LmodError("the environment " .. active .. " is active in this shell: deactivate it first")
    end
end

local function enter(prefix)
    check_none_is_active(prefix)
    set("GPKG_MODULE", myModuleFullName())
    add("PATH", prefix .. "/bin", ":", false)
end
