-- The environment is in an image: gpkg brings it to this machine's disk and mounts it before anything
-- is set, and has it unmounted when no shell of this user needs it any more.

local function gpkg_image(...)
    local words = { isFile(program) and program or "gpkg", "image", ... }
    for place, word in ipairs(words) do words[place] = "'" .. word:gsub("'", "'\\''") .. "'" end
    local said = capture(table.concat(words, " ") .. " 2>&1 < /dev/null; echo \"gpkg-status $?\"")
    local text, status = said:match("^(.-)%s*gpkg%-status (%d+)%s*$")
    return status == "0", text or said
end

local function mount(image, place, disk)
    if mode() ~= "load" then return end
    check_none_is_active(place)
    local done, said = gpkg_image("mount", image, "--for-module", place, "--disk", disk)
    if not done then LmodError(said:match("error: (.*)") or said) end
    if said ~= "" then io.stderr:write(said, "\n") end
end

local function unmount(place)
    if mode() ~= "unload" then return end
    local _, said = gpkg_image("unmount", place, "--for-module")
    if said ~= "" then io.stderr:write(said, "\n") end
end
