# Lock files of pixi and conda-lock as other people hand them over: what is taken, and what is said of it.
. "$(dirname "$0")/lib.sh"

hash=$(printf 'a%.0s' {1..64})
url=https://channel.example/main
# pixi FILE: a pixi.lock of version 6 with packages of the environment default on linux-64; stdin has their blocks.
pixi() {
    cat > "$WORK/blocks"
    {
        printf 'version: 6\nenvironments:\n  default:\n    channels:\n    - url: %s/\n' "$url"
        printf '    indexes:\n    - https://index.example/simple\n    packages:\n      linux-64:\n'
        sed -n 's/^- \(conda\|pypi\): /      &/p' "$WORK/blocks"
        printf 'packages:\n'
        cat "$WORK/blocks"
    } > "$1"
}

# Run constraints on the machine warn; dependencies refuse.
pixi driver.lock << END
- conda: $url/noarch/driver-version-13.0-h0_0.conda
  sha256: $hash
  constrains: [__cuda >=13]
- conda: $url/linux-64/simu-1.0-h0_0.conda
  sha256: $hash
  depends: [driver-version >=13, __cuda]
END
CONDA_OVERRIDE_CUDA=12.8 expect 0 create -n x --dry-run --lock driver.lock
out_has 'simu' 'driver-version'
err_has 'warning: driver.lock: ' 'driver-version 13.0 allows only __cuda >=13 (found 12.8)'
CONDA_OVERRIDE_CUDA=13.1 expect 0 create -n x --dry-run --lock driver.lock
err_lacks 'driver-version'
expect 1 create -n x --dry-run --lock driver.lock
err_has 'needs __cuda (none found)'
expect 0 lock convert driver.lock own.gpkg.lock
CONDA_OVERRIDE_CUDA=12.8 expect 0 create -n x --dry-run --lock own.gpkg.lock
err_has 'warning: own.gpkg.lock: ' 'allows only __cuda >=13'
sed 's/depends: \[driver-version >=13, __cuda\]/depends: [__cuda >=13]/' driver.lock > needs.lock
CONDA_OVERRIDE_CUDA=12.8 expect 1 create -n x --dry-run --lock needs.lock
err_has 'needs __cuda >=13 (found 12.8)'

# Packages that do not fit together.
pixi torn.lock << END
- conda: $url/linux-64/speed-0.10.0-h0_0.conda
  sha256: $hash
  depends: [torchy >=2.0<2.1.0a0]
- conda: $url/linux-64/torchy-2.1.0-h0_0.conda
  sha256: $hash
END
sed -i 's/2.0<2.1/2.0,<2.1/; s/\[\(torchy .*\)\]/["\1"]/' torn.lock
expect 1 create -n x --dry-run --lock torn.lock
err_has 'class linux-64 is inconsistent: speed needs torchy >=2.0,<2.1.0a0, found 2.1.0 h0_0' '--allow-inconsistent'
for verb in create sync; do
    expect 0 $verb -n x --dry-run --lock torn.lock --allow-inconsistent
    out_has 'speed' 'torchy'
    err_has 'warning: torn.lock: class linux-64 is inconsistent: speed needs torchy'
done

# Packages that pixi builds from source.
cat > source.lock << END
version: 7
platforms:
- name: linux-64
environments:
  default:
    channels:
    - url: $url/
    packages:
      linux-64:
      - conda: $url/noarch/app-1.0-h0_0.conda
      - conda_source: library[01e1d6de] @ recipes/library
packages:
- conda: $url/noarch/app-1.0-h0_0.conda
  sha256: $hash
  depends: [library >=1.0]
- conda_source: library[01e1d6de] @ recipes/library
  version: 1.2.0
END
expect 1 create -n x --dry-run --lock source.lock
err_has 'app needs library (recipes/library), which pixi builds from source' '--allow-inconsistent'
expect 0 create -n x --dry-run --lock source.lock --allow-inconsistent
err_has 'skipped library (recipes/library): pixi builds it from source'
sed '/depends/d' source.lock > loose.lock
expect 0 create -n x --dry-run --lock loose.lock
out_has 'app'
err_has 'skipped library (recipes/library): pixi builds it from source'
sed '/ - conda:/d' loose.lock > only.lock
expect 1 create -n x --dry-run --lock only.lock
err_has 'pixi builds all packages of linux-64 from source'
absent x

# One environment of a file keeps what the file has of it.
pixi wheels.lock << END
- conda: $url/noarch/app-1.0-h0_0.conda
  sha256: $hash
- pypi: https://files.example/wheelie-1.17.0-py3-none-any.whl
  name: wheelie
  version: 1.17.0
END
expect 0 lock convert wheels.lock whole.pixi.lock --format pixi-6
expect 0 lock convert wheels.lock one.pixi.lock --format pixi-6 --environment default
check cmp whole.pixi.lock one.pixi.lock
check grep -q 'index.example/simple' one.pixi.lock
expect 0 lock convert wheels.lock via.gpkg.lock --environment default
expect 0 lock convert via.gpkg.lock back.pixi.lock --format pixi-6
check cmp whole.pixi.lock back.pixi.lock

finish
