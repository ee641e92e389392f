# gpkg info, gpkg hardware
. "$(dirname "$0")/lib.sh"

package app 1 0
expect 0 create -y -q -n one app

expect 0 info
out_has "root prefix  : $GPKG_ROOT_PREFIX (writable)"
out_has 'active environment  : none'
out_has "config files  : $GPKG_ROOT_PREFIX/config.yaml"
out_has "channels  : file://$CHANNEL/linux-64"
out_has "__glibc=2.36=0"
expect 0 info --json
json 'd["root_prefix"] == d["conda_prefix"] == d["default_prefix"] == work + "/root"'
json 'd["channels"] == ["file://" + channel + "/linux-64", "file://" + channel + "/noarch"]'
json 'd["platform"] == "linux-64" and d["active_prefix"] is None'
json 'd["config_files"] == [work + "/root/config.yaml"]'
json '["__glibc", "2.36", "0"] in d["virtual_pkgs"] and ["__linux", "6.1", "0"] in d["virtual_pkgs"]'
json 'not any(p[0] == "__cuda" for p in d["virtual_pkgs"])'
json 'd["envs"] == [work + "/root/envs/one"] and d["envs_dirs"] == [work + "/root/envs"]'
json 'd["pkgs_dirs"] == [work + "/root/pkgs"]'
json 'd["env_vars"]["CONDA_SUBDIR"] == "linux-64"'

# Overrides reach it; secrets of proxies do not.
CONDA_OVERRIDE_CUDA=12.4 HTTPS_PROXY=http://me:secret@host expect 0 info --json
json '["__cuda", "12.4", "0"] in d["virtual_pkgs"]'
out_lacks secret
CONDA_PREFIX=$GPKG_ROOT_PREFIX/envs/one expect 0 info --json
json 'd["active_prefix"] == d["default_prefix"] == work + "/root/envs/one"'
json 'd["active_prefix_name"] == "one"'

# An environment: what is stored of it beside its packages.
expect 0 info -n one
out_has 'environment  : one' 'packages  : 1 (1 requested)' 'accelerator  : builds for this machine (no accelerator set)' 'GPU packages  : none' 'pins  : none' 'packages from  : as configured'
expect 0 create -y -n two app --accel none -c "$CHANNEL" --override-channels
out_has 'Accelerator  CPU builds only (accelerator none)' 'two now uses CPU builds only (accelerator none)'
expect 0 pin -n two app
expect 0 info -n two
out_has 'accelerator  : CPU builds only (accelerator none)' 'pins  : 1 (gpkg pins -n two)'
expect 0 info -p "$GPKG_ROOT_PREFIX/envs/two" --json
json 'd["environment"]["accelerator"] == "none" and len(d["environment"]["pins"]) == 1 and d["environment"]["packages"] == 1'
json 'd["platform"] == "linux-64"'
expect 1 info -n nowhere
expect 2 info -n one --base
# The accelerator is told where it changes, and only there.
expect 0 install -n two --accel nvidia --dry-run
out_has 'two would use CUDA builds (accelerator nvidia)'
expect 0 install -n two --accel nvidia -y
out_has 'two now uses CUDA builds (accelerator nvidia)'
expect 0 install -n two --accel nvidia -y
out_lacks 'now uses'
expect 0 env remove -y -n two

# A map without entries is not a setting.
expect 0 config set custom_channels.mine https://h.invalid/mine
expect 0 info
out_has 'custom_channels: mine: https://h.invalid/mine'
expect 0 config remove-key custom_channels.mine
expect 0 info
out_lacks custom_channels

# What a site says is seen, and where it says so; a file that is not there is told.
cat > "$WORK/site.yaml" <<END
accelerator: none
mirrored_channels: {conda-forge: ["https://me:secret@mirror.example/conda-forge"]}
store_layers: [$WORK/layer]
END
export GPKG_SYSTEM_CONFIG=$WORK/site.yaml
expect 0 info
out_has "accelerator: none ($WORK/site.yaml:1:14)" "mirrored_channels: conda-forge: https://" "store_layers: $WORK/layer (does not exist) ($WORK/site.yaml:3"
out_lacks secret
expect 0 info --json
json 'd["settings"]["accelerator"] == {"value": "none", "source": work + "/site.yaml:1:14"} and d["settings"]["store_layers"]["value"] == [work + "/layer"]'
out_lacks secret
# A login or token is masked, as in gpkg config.
GPKG_CHANNELS=https://me:secret@host/t/tk-secret/c expect 0 info
out_has 'https://***@host/t/***/c/noarch'
out_lacks secret
GPKG_SYSTEM_CONFIG=$WORK/site.yml expect 0 info
err_has "$WORK/site.yml: not found (GPKG_SYSTEM_CONFIG)"
unset GPKG_SYSTEM_CONFIG

expect 0 info --base
out_is "$GPKG_ROOT_PREFIX"
expect 0 info --envs --json
json 'd["envs"] == [work + "/root/envs/one"]'
expect 2 info --base --envs

# An invalid configuration is told; the rest is shown, also in the report and by log.
printf 'channels: {a: b}\ndownload_threads: 3\n' > "$GPKG_ROOT_PREFIX/config.yaml"
expect 1 list -n one --json
json 'd["success"] is False'
expect 0 info
err_has "warning: $GPKG_ROOT_PREFIX/config.yaml:1:"
out_has "invalid settings  : error: $GPKG_ROOT_PREFIX/config.yaml:1:" 'download_threads: 3' "root prefix  : $GPKG_ROOT_PREFIX"
expect 0 info --json
json 'len(d["config_errors"]) == 1 and d["config_errors"][0].startswith(work + "/root/config.yaml:1:")'
json 'd["settings"]["download_threads"]["value"] == "3" and d["errors"] == []'
printf 'channels: [a\n' > "$GPKG_ROOT_PREFIX/config.yaml"
GPKG_LINK=bogus expect 0 info --report
out_has "invalid settings  : error: $GPKG_ROOT_PREFIX/config.yaml:2:1:" 'error: GPKG_LINK: ' 'gpkg commit' '__glibc=2.36=0' \
    'gpkg create -y -q -n one app'
expect 0 log
out_has 'gpkg create -y -q -n one app'
err_has "warning: $GPKG_ROOT_PREFIX/config.yaml:2:1:"
# A part that fails has its error as its content.
printf 'channels: ["http://h/c?token=hidden"]\n' > "$GPKG_ROOT_PREFIX/config.yaml"
expect 0 info --report
out_has "channels  : error: channel 'http://h/c'" '__glibc=2.36=0' 'last commands'
out_lacks hidden
expect 0 info --json
json 'd["channels"] == [] and len(d["errors"]) == 1 and d["virtual_pkgs"]'
out_lacks hidden
printf 'channels: []\n' > "$GPKG_ROOT_PREFIX/config.yaml"

expect 0 hardware
out_has 'platform       linux-64'
out_has '__glibc'
out_has 'CONDA_OVERRIDE_GLIBC'
expect 0 hardware --json
json 'd["platform"] == "linux-64" and isinstance(d["gpus"], list)'
json '{"name": "__glibc", "version": "2.36", "build": "0", "source": "CONDA_OVERRIDE_GLIBC", "assumed": False} in
    d["virtual_packages"]'

finish
