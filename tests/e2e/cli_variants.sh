# gpkg variants
. "$(dirname "$0")/lib.sh"

package driver 12.9 0 '__cuda >=12'
package torch 1.0 cpu_py312_0 'python_abi 3.12.* *_cp312'
package torch 1.0 rocm6_py312_0 '__amdgpu' 'python_abi 3.12.* *_cp312'
package torch 2.0 cpu_py312_0 'python_abi 3.12.* *_cp312'
package torch 2.0 cuda129_py312_0 'driver' 'python_abi 3.12.* *_cp312'
package torch 2.0 cuda118_py313_0 '__cuda >=11.8' 'python_abi 3.13.* *_cp313'
package python_abi 3.12 1_cp312
package python_abi 3.13 1_cp313
package plain 1.0 0

expect 0 variants torch
check [ "$(tr -s ' ' <<< "$out")" = '# Version Build accelerator cuda python fits here
2.0 cuda129_py312_0 nvidia 12.9 3.12 no: driver 12.9 0 needs __cuda >=12: this machine has no NVIDIA driver (__cuda)
2.0 cuda118_py313_0 nvidia 11.8 3.13 no: needs __cuda >=11.8: this machine has no NVIDIA driver (__cuda)
2.0 cpu_py312_0 none 3.12 yes' ]
err_has 'accelerator none: by "build cpu_py312_0"'
err_has 'the newest version with builds for amd is 1.0'
# What is said to fit can be had, and what is said not to cannot.
expect 0 solve torch=2.0=cpu_py312_0
expect 1 solve torch=2.0=cuda129_py312_0

# Of another machine, of more versions, as data.
unset CONDA_OVERRIDE_CUDA
expect 0 variants torch --for h100
out_lacks 'no:'
expect 0 variants torch --for v100 --versions 2 --json
json 'd["machine"] == "v100" and [v["version"] for v in d["variants"]] == ["2.0"] * 3 + ["1.0"] * 2'
json '[v["fits"] for v in d["variants"] if v["variant"]["accelerator"] == "amd"] == [False]'
json 'all(v["fits"] == (v["reason"] is None) for v in d["variants"])'
json '{v["variant"]["evidence"] for v in d["variants"]} >= {"needs __amdgpu", "build cpu_py312_0"}'
expect 0 variants 'torch=1.0' --for mi300
out_lacks 'no:'
CONDA_OVERRIDE_CUDA=11.8 expect 0 variants torch
out_has 'this machine has a driver for CUDA 11.8 (__cuda)'

# Only what differs is a column.
expect 0 variants plain
check [ "$(tr -s ' ' <<< "$out")" = '# Version Build fits here
1.0 0 yes' ]
expect 1 variants plan
err_has 'did you mean plain?'
expect 2 variants 'torch*'
expect 2 variants torch --versions 0

finish
