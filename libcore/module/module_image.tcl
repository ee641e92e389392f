## The environment is in an image: gpkg brings it to this machine's disk and mounts it before anything
## is set, and has it unmounted when no shell of this user needs it any more.
proc gpkg_image {args} {
    set program $::gpkg_program
    if {![file executable $program]} { set program gpkg }
    set failed [catch {exec -- $program image {*}$args < /dev/null 2>@1} said]
    return [list $failed [regsub {\s*child process exited abnormally$} $said ""]]
}

proc gpkg_mount {image place disk} {
    if {![module-info mode load]} { return }
    gpkg_check_none_is_active $place
    lassign [gpkg_image mount $image --for-module $place --disk $disk] failed said
    if {$failed} { error [regsub {^.*error: } $said ""] }
    if {$said ne ""} { puts stderr $said }
}

proc gpkg_unmount {place} {
    if {![module-info mode unload]} { return }
    lassign [gpkg_image unmount $place --for-module] failed said
    if {$said ne ""} { puts stderr $said }
}
