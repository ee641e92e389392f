-- What a room asks is looked for as module systems can: by files of the driver and by the flags
-- of /proc/cpuinfo (the levels of the x86-64 psABI, but for abm: all that have the others of its
-- level have it, and some virtual machines do not list it). CONDA_OVERRIDE_* say it as they do to gpkg.

-- It may have been loaded on another machine: what goes is every room that there can be.
local unloading = mode() == "unload"

local function override(name)
    local value = os.getenv("CONDA_OVERRIDE_" .. name)
    if value ~= nil then return true, value ~= "" end
    return false
end

local function has_any(name, files)
    if unloading then return true end
    local is_said, answer = override(name)
    if is_said then return answer end
    for _, file in ipairs(files) do
        if isFile(file) or isDir(file) then return true end
        local device = io.open(file, "r")
        if device then device:close() return true end
    end
    return false
end

local function level()
    if unloading then return 4 end
    local said = os.getenv("CONDA_OVERRIDE_ARCHSPEC") or ""
    local named = said:match("^x86_64_v(%d)$")
    if named then return tonumber(named) end
    local flags = {}
    local file = io.open("/proc/cpuinfo", "r")
    if not file then return 1 end
    for line in file:lines() do
        local words = line:match("^flags%s*:(.*)")
        if words then
            for flag in words:gmatch("%S+") do flags[flag] = true end
            break
        end
    end
    file:close()
    local reached = 1
    for _, step in ipairs({
        "cx16 lahf_lm popcnt sse4_1 sse4_2 ssse3",
        "avx avx2 bmi1 bmi2 f16c fma movbe xsave",
        "avx512bw avx512cd avx512dq avx512f avx512vl",
    }) do
        for flag in step:gmatch("%S+") do
            if not flags[flag] then return reached end
        end
        reached = reached + 1
    end
    return reached
end

local accelerators = { "" }
if has_any("CUDA", { "/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg" }) then
    accelerators[#accelerators + 1] = "nvidia"
end
if has_any("AMDGPU", { "/dev/kfd" }) then accelerators[#accelerators + 1] = "amd" end
local levels = { "" }
for number = 2, level() do levels[#levels + 1] = "x86_64_v" .. number end
for _, accelerator in ipairs(accelerators) do
    for _, name in ipairs(levels) do
        local between = (accelerator ~= "" and name ~= "") and "-" or ""
        local room = accelerator .. between .. name
        if room ~= "" and (unloading or isDir(root .. "/" .. room)) then
            prepend_path("MODULEPATH", root .. "/" .. room)
        end
    end
end
