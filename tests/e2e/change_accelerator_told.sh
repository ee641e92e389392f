# What fixes and exports say of accelerators is what has to be said
. "$(dirname "$0")/lib.sh"
gpu() { CONDA_OVERRIDE_CUDA=12.9 "$@"; }

# What an environment for one accelerator has of what is only needed is for CPUs where there is no
# build for it; named, as an export names it, it has to be said.
package partlib 4.0 cpu_0
package partlib 4.0 rocm6_0 '__amdgpu'
package whole 1.0 0 'partlib >=4'
package torch 1.0 cpu_0
package torch 1.0 cuda129_0 '__cuda'
index
gpu expect 0 create -y -n whole whole torch=1.0 --accel nvidia
expect 0 env export -n whole
out_has 'accelerator:
  default: nvidia
  partlib: none'
printf '%s' "$out" > "$WORK/whole.yml"
gpu expect 0 create -y -n again -f "$WORK/whole.yml"
records again 'r["partlib"]["build"] == "cpu_0" and r["torch"]["build"] == "cuda129_0"'

# What was asked for earlier is asked for as it was where its accelerator is in the way.
package cuda-version 12.8 0
package cuda-version 13.0 0
package strict 3.0 cuda130_0 'cuda-version >=13,<14'
package strict 3.0 cpu_0
package strict 4.0 cuda128_0 'cuda-version >=12.8,<13'
package strict 4.0 cpu_0
package twelve 1.0 0 'cuda-version >=12.8,<13'
index
CONDA_OVERRIDE_CUDA=13.0 expect 0 create -y -n strict strict=3 --accel nvidia
CONDA_OVERRIDE_CUDA=13.0 expect 1 install -n strict twelve cuda-version
err_has "gpkg install -n strict twelve cuda-version 'strict=3[accel=auto]'  # gives strict 3.0 (CPU build) and twelve 1.0"
CONDA_OVERRIDE_CUDA=13.0 expect 0 install -n strict twelve cuda-version 'strict=3[accel=auto]' --dry-run
out_has 'cpu_0'
# An update names what is there: no other name is proposed to it.
package gpuonly 1.0 cuda129_0 '__cuda'
package grows 1.0 0
package grows 2.0 0 gpuonly
index
expect 0 create -y -n grows grows=1 --accel none
gpu expect 1 update -n grows grows=2
err_lacks 'gpuonly[accel=auto]'
gpu expect 1 install -n grows grows=2
err_has "gpkg install -n grows grows=2 'gpuonly[accel=auto]'"
# Two things that are said of one package's accelerator are said in one word.
package pinme 3.0 cuda129_0 '__cuda'
package pinme 4.0 cpu_0
index
expect 0 create -y -n pinme pinme
printf 'pinme 4.0 cpu_0\n' > "$(place pinme)/conda-meta/pinned"
gpu expect 1 install -n pinme pinme=3
err_has "'pinme=3[accel="
err_lacks "accel=auto]' 'pinme" "accel=nvidia]' --no-pin 'pinme"

# That a fix brings a CPU build to a machine with a GPU is told, of a dependency, too.
package core 1.0 cpu_0
package core 1.0 cuda12_0 '__cuda'
package core 1.0 cuda13_0 '__cuda >=13'
package wrapper 1.0 0 'core ==1.0 cpu_0'
package wrapper 2.0 0 'core ==1.0 cuda13_0'
index
CONDA_OVERRIDE_CUDA= expect 0 create -y -n wrapped wrapper=1.0
gpu expect 1 solve wrapper=2
err_has 'gpkg solve wrapper=1.0  # gives core 1.0 (CPU build) and wrapper 1.0'

# A GPU that variables give comes with a driver for what is asked for.
package new-cuda 13.0 0
package needs13 1.0 cuda130_0 '__cuda_arch >=8.0' '__cuda >=13'
package needs12 1.0 cuda120_0 '__cuda_arch >=8.0' '__cuda >=12'
index
for name in needs12 needs13; do
    CONDA_OVERRIDE_CUDA= expect 1 solve $name
    sed -n 's/^  \(CONDA_OVERRIDE.*\)  #.*/\1/p' "$WORK/stderr" > "$WORK/fix"
    check [ -s "$WORK/fix" ]
    sed "s#gpkg#'$GPKG'#" "$WORK/fix" > "$WORK/fix.sh"
    check bash "$WORK/fix.sh"
done

finish
