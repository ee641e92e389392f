set gpkg_unloading [module-info mode unload]
set gpkg_shell [module-info shelltype]
set gpkg_kept __GPKG_KEPT_[regsub -all {\W} [module-info name] _]_

## Module systems lose, or hand to the shell as commands, what follows a line end in a value, and
## csh sees more in values than they know of. Such values are written for the shell here.
proc gpkg_is_plain {value} {
    if {$::gpkg_shell eq "csh"} { return [regexp {^[\w/.:=+,@%-]*$} $value] }
    return [expr {[string first "\n" $value] < 0}]
}

proc gpkg_tell {name has value} {
    ## What only shows the module changes no shell.
    if {![module-info mode load] && !$::gpkg_unloading} { return }
    if {$::gpkg_shell eq "csh"} {
        set text "setenv $name \$'"
        foreach character [split $value ""] {
            set code [scan $character %c]
            if {$code > 127 || [regexp {[\w/.:=+,@%-]} $character]} {
                append text $character
            } else {
                append text [format {\%03o} $code]
            }
        }
        append text "'"
        if {!$has} { set text "unsetenv $name" }
    } elseif {$::gpkg_shell eq "fish"} {
        set text "set -gx $name '[string map {\\ \\\\ ' \\'} $value]'"
        if {!$has} { set text "set -e $name" }
    } else {
        set text "export $name='[string map {' '\\''} $value]'"
        if {!$has} { set text "unset $name" }
    }
    puts stdout "$text;"
}

## A variable that the shell was told so is told so until this run ends: what setenv says comes
## first.
proc gpkg_put {name has value} {
    set told __GPKG_TOLD_$name
    if {![info exists ::env($told)] && (!$has || [gpkg_is_plain $value])} {
        if {!$::gpkg_unloading} {
            if {$has} { setenv $name $value } else { unsetenv $name }
        } elseif {$has} {
            unsetenv $name $value
        } else {
            setenv $name x
            unset -nocomplain ::env($name)
        }
        return
    }
    gpkg_tell $name $has $value
    set ::env($told) 1
    if {$has} { set ::env($name) $value } else { unset -nocomplain ::env($name) }
}

## pushenv is not in old versions, and in new ones loses values with ":" in them; unsetenv gives
## nothing back. So what a variable held is kept in another, as "-" or "+" and the value without
## line ends.
proc gpkg_change {name has value} {
    set kept $::gpkg_kept$name
    if {!$::gpkg_unloading} {
        if {[info exists ::env($name)]} {
            gpkg_put $kept 1 "+[string map [list % %25 \n %0A] $::env($name)]"
        } else {
            gpkg_put $kept 1 "-"
        }
        gpkg_put $name $has $value
    } elseif {[info exists ::env($kept)]} {
        set old $::env($kept)
        gpkg_put $name [expr {$old ne "-"}] [string map [list %0A \n %25 %] [string range $old 1 end]]
        gpkg_put $kept 0 ""
    }
}

proc gpkg_set {name value} { gpkg_change $name 1 $value }

proc gpkg_set_if_unset {name value} {
    if {$::gpkg_unloading || ![info exists ::env($name)]} { gpkg_change $name 1 $value }
}

proc gpkg_unset {name} {
    if {$::gpkg_unloading || [info exists ::env($name)]} { gpkg_change $name 0 "" }
}

proc gpkg_value {name} {
    return [expr {[info exists ::env($name)] ? $::env($name) : ""}]
}

## prepend-path tidies the whole list: doubles, "//" and empty entries go, which may mean something.
## Where it would change the list, that is kept and given back as a whole; PATH, which every module
## adds to, never is.
proc gpkg_is_tidy {list} {
    set seen [list]
    foreach entry [split $list ":"] {
        if {$entry eq "" || $entry in $seen || [regexp {//|/\.?/?$|/\./|^\s|\s$} $entry] ||
            ![gpkg_is_plain $entry]} {
            return 0
        }
        lappend seen $entry
    }
    return [expr {$list ne ""}]
}

proc gpkg_add {name value separator behind} {
    set whole [expr {$separator eq " " || ($name ne "PATH" && ![gpkg_is_tidy $value])}]
    if {!$whole && $name ne "PATH"} {
        if {$::gpkg_unloading} {
            set whole [info exists ::env($::gpkg_kept$name)]
        } else {
            set whole [expr {[info exists ::env($name)] && ![gpkg_is_tidy $::env($name)]}]
        }
    }
    if {$whole} {
        set old [gpkg_value $name]
        if {$old eq ""} {
            gpkg_set $name $value
        } elseif {$behind} {
            gpkg_set $name $old$separator$value
        } else {
            gpkg_set $name $value$separator$old
        }
    } elseif {$behind} {
        append-path $name $value
    } else {
        prepend-path $name $value
    }
    ## A list that nothing is left of is gone for the shell, but not yet for this run.
    if {$::gpkg_unloading && !$whole && [gpkg_value $name] eq ""} { unset -nocomplain ::env($name) }
}

proc gpkg_check_none_is_active {prefix} {
    set active [gpkg_value CONDA_PREFIX]
    if {[module-info mode load] && $active ne "" && $active ne $prefix &&
        ![info exists ::env(GPKG_MODULE)]} {
        error "the environment $active is active in this shell: deactivate it first"
    }
}

proc gpkg_enter {prefix} {
    gpkg_check_none_is_active $prefix
    gpkg_set GPKG_MODULE [module-info name]
    gpkg_add PATH $prefix/bin ":" 0
}
