## What a room asks is looked for as module systems can: by files of the driver and by the flags
## of /proc/cpuinfo (the levels of the x86-64 psABI, but for abm: all that have the others of its
## level have it, and some virtual machines do not list it). CONDA_OVERRIDE_* say it as they do to gpkg.

## It may have been loaded on another machine: what goes is every room that there can be.
set gpkg_unloading [module-info mode unload]

proc gpkg_has_any {name files} {
    if {$::gpkg_unloading} { return 1 }
    set said CONDA_OVERRIDE_$name
    if {[info exists ::env($said)]} { return [expr {$::env($said) ne ""}] }
    foreach file $files {
        if {[file exists $file]} { return 1 }
    }
    return 0
}

proc gpkg_level {} {
    if {$::gpkg_unloading} { return 4 }
    if {[info exists ::env(CONDA_OVERRIDE_ARCHSPEC)] &&
        [regexp {^x86_64_v(\d)$} $::env(CONDA_OVERRIDE_ARCHSPEC) -> named]} {
        return $named
    }
    if {[catch {open /proc/cpuinfo r} file]} { return 1 }
    set flags [list]
    while {[gets $file line] >= 0} {
        if {[regexp {^flags\s*:(.*)} $line -> flags]} { break }
    }
    close $file
    set reached 1
    foreach step {
        {cx16 lahf_lm popcnt sse4_1 sse4_2 ssse3}
        {avx avx2 bmi1 bmi2 f16c fma movbe xsave}
        {avx512bw avx512cd avx512dq avx512f avx512vl}
    } {
        foreach flag $step {
            if {[lsearch -exact $flags $flag] < 0} { return $reached }
        }
        incr reached
    }
    return $reached
}

set accelerators [list ""]
if {[gpkg_has_any CUDA {/proc/driver/nvidia/version /dev/nvidiactl /dev/dxg}]} {
    lappend accelerators nvidia
}
if {[gpkg_has_any AMDGPU {/dev/kfd}]} { lappend accelerators amd }
set levels [list ""]
for {set number 2} {$number <= [gpkg_level]} {incr number} { lappend levels x86_64_v$number }
foreach accelerator $accelerators {
    foreach name $levels {
        set room [join [lsearch -all -inline -not [list $accelerator $name] ""] -]
        if {$room ne "" && ($gpkg_unloading || [file isdirectory $root/$room])} {
            prepend-path MODULEPATH $root/$room
        }
    }
}
