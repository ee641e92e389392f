# gpkg why
. "$(dirname "$0")/lib.sh"

package zlib 1.3 h_0
package png 1.6 h_0 'zlib >=1.2,<2'
package plot 3.1 h_0 png
package app 2.0 h_0 'plot >=3' zlib
package lone 1 0

expect 0 create -y -q -n one 'app>=1' plot
expect 0 why -n one png
out_is 'png 1.6 h_0
plot is requested
└─ plot 3.1 needs png
app >=1 is requested
└─ app 2.0 needs plot >=3
   └─ plot 3.1 needs png'

# With --all every chain.
expect 0 why -n one zlib
out_is 'zlib 1.3 h_0
app >=1 is requested
└─ app 2.0 needs zlib
plot is requested
└─ plot 3.1 needs png
   └─ png 1.6 needs zlib >=1.2,<2'
expect 0 why -n one zlib --all
out_is 'zlib 1.3 h_0
app >=1 is requested
└─ app 2.0 needs zlib
plot is requested
└─ plot 3.1 needs png
   └─ png 1.6 needs zlib >=1.2,<2
app >=1 is requested
└─ app 2.0 needs plot >=3
   └─ plot 3.1 needs png
      └─ png 1.6 needs zlib >=1.2,<2'
expect 0 why -n one zlib --all --json
json 'len(d["chains"]) == 3'

expect 0 why -n one app
out_is 'app 2.0 h_0
app >=1 is requested'

expect 0 why -n one zlib --json
json '(d["name"], d["version"], d["build"], d["requested"]) == ("zlib", "1.3", "h_0", None)'
json '[n["name"] for n in d["needed_by"]] == ["app", "png"]'
json '[[s["name"] for s in c["steps"]] for c in d["chains"]] == [["app"], ["plot", "png"]]'
json 'd["chains"][0]["steps"][0]["needs"] == "zlib"'
expect 0 why -n one app --json
json 'd["requested"].startswith("app[version=") and d["needed_by"] == []'

# What is there although nobody wants it.
expect 0 install -y -q -n one lone
sed -i '/lone/d' "$GPKG_ROOT_PREFIX/envs/one/conda-meta/history"
expect 0 why -n one lone
out_has 'not requested, and no package needs it'

expect 1 why -n one pgn
err_has "pgn is not installed in $GPKG_ROOT_PREFIX/envs/one"
err_has 'did you mean png?'
expect 1 why -n nowhere png
expect 2 why png
err_has 'no environment is active' 'png is installed in one: gpkg why -n one png'
expect 2 why nothing
err_has 'use -n NAME or -p PATH'

# Many chains end with the command that shows them as one tree.
package two 1.0 0 plot
package three 1.0 0 plot
expect 0 install -y -q -n one two three
expect 0 why -n one zlib --all
err_is 'shorter: gpkg tree --invert -n one zlib'
expect 0 tree --invert -n one zlib

# An update to a version holds to nothing that one of a mere name does.
package down 1.0 0
package down 2.0 0
index
expect 0 create -y -q -n down down
expect 0 why-not down=1.0 -n down --json
json 'd["verdict"] != "impossible" and d["possible"]["version"] == "1.0"'
expect 0 update -n down down=1.0 --dry-run

finish
