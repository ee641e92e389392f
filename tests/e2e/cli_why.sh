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
expect 1 why -n one quitedifferent
err_has 'to see why not: gpkg why-not -n one quitedifferent'
expect 1 why -n nowhere png
expect 2 why png
err_has 'no environment is active' 'png is installed in one: gpkg why -n one png; for a new request: gpkg why-not png'
expect 2 why png --accel nvidia
err_has 'gpkg why-not PACKAGE --accel VENDOR'
expect 2 why not png
err_has 'did you mean gpkg why-not png?'
expect 2 why nothing
err_has 'use -n NAME or -p PATH' 'gpkg why-not nothing'

# With a channel or a machine the question is about a request.
package gpu 1.0 cpu_0
package gpu 1.0 cuda126_0 '__cuda >=12'
index
expect 0 why gpu -c "file://${CHANNEL// /%20}"
out_is 'gpu 1.0 cpu_0 is chosen: newest version, CPU build
CPU build because this machine has no GPU'
expect 2 why -n one zlib --for h100
err_has 'cannot be given with -n or -p' 'gpkg why zlib -n one' 'why this build: gpkg why-not zlib -n one --for h100' 'gpkg doctor -n one --for h100'
unset CONDA_OVERRIDE_CUDA
older='CUDA 12.6 runs with a driver for CUDA 12.4 (same major version), except code that needs PTX compilation'
expect 0 why gpu --for h100,cuda=12.4
out_is "gpu 1.0 cuda126_0 is chosen: newest version, CUDA build
CUDA build because h100,cuda=12.4 has an NVIDIA GPU
$older"
expect 0 why-not 'gpu=*=cpu*' gpu --for h100
out_has 'gpu 1.0 cpu_0 is possible, but gpu 1.0 cuda126_0 is a CUDA build, and h100 has an NVIDIA GPU'

expect 0 why-not 'gpu[accel=none]' --for h100
out_has 'gpu 1.0 cpu_0 is chosen' 'CPU build because accelerator none is requested'
expect 0 why-not 'lone[accel=nvidia]' --for h100
out_has 'lone 1 0 is chosen' 'accelerator nvidia has no effect on lone 1: it has no CUDA builds'
# A GPU build that is chosen because newer ones need another machine.
package old 1.0 cuda11_0
package old 2.0 cuda12_0 '__cuda >=99'
index
expect 0 why-not 'old[accel=nvidia]' --for h100
out_has 'old 2.0 cuda12_0 cannot be used: needs __cuda >=99' \
    'an older CUDA build is possible:' 'old 1.0 cuda11_0 is chosen: CUDA build'

# A plan says so too, and where the channels have nothing for the GPUs that --for names.
expect 0 create --dry-run -n x gpu --for h100,cuda=12.4
out_has 'Requested: gpu 1.0 cuda126_0 (CUDA build)' 'CUDA build because h100,cuda=12.4 has an NVIDIA GPU'
err_has "note: $older"
err_lacks 'no CUDA builds'
expect 0 create --dry-run -n x gpu --for h100
err_lacks PTX
expect 0 create --dry-run -n x lone app --for h100
err_has 'note: lone and app have no CUDA builds in these channels'
expect 0 create --dry-run -n x lone --for h100 --accel none
err_lacks 'no CUDA builds'
expect 0 create --dry-run -n x lone
err_lacks 'no CUDA builds'
expect 0 create -y -q -n cuda gpu --for h100
expect 0 why -n cuda gpu
out_has 'gpu 1.0 cuda126_0 (CUDA build)'
err_has 'hint: why this build: gpkg why-not -n cuda gpu'
expect 0 why-not -n cuda gpu --for h100
out_is 'gpu 1.0 cuda126_0 is installed (CUDA build)
CUDA build because h100 has an NVIDIA GPU'
expect 0 why-not -n cuda gpu
out_is 'gpu 1.0 cuda126_0 is installed (CUDA build)
this machine has no NVIDIA GPU; for the machine that the environment is for, add --for NAME or --for FILE'
export CONDA_OVERRIDE_CUDA=

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
