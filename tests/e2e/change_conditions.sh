# Requested specs with a condition (CEP 43), from the command line to the history and back.
. "$(dirname "$0")/lib.sh"

package python 3.9 0
package python 3.12 0
package numpy 1.26 0
package numpy 2.3 0
package app 1 0 python numpy
WHEN='numpy>=2[when="python>=3.10"]'

# It holds: the package comes, and is requested.
expect 0 create -q -n one python=3.12 "$WHEN"
has one numpy-2.3 python-3.12
expect 0 list -n one --requested
out_has "numpy>=2[when='python>=3.10']"
expect 0 update -n one --all
out_has 'up to date'
expect 0 remove -y -n one numpy
has one python-3.12
expect 0 install -q -n one python
has one python-3.12

# It does not: the request stays, and is evaluated again when python changes.
expect 0 create -q -n two python=3.9 "$WHEN"
has two python-3.9
expect 0 env export -n two --from-history
out_has "  - numpy>=2[when='python>=3.10']"
printf '%s\n' "$out" > two.yml
expect 0 install -q -n two app
has two app-1 numpy-2.3 python-3.9
expect 0 install -q -n two python=3.12
has two app-1 numpy-2.3 python-3.12
expect 0 rollback -q -y -n two 1
has two python-3.9
expect 0 install -q -n two python=3.12
has two numpy-2.3 python-3.12
expect 0 list -n two --requested
out_has "numpy>=2[when='python>=3.10']"

# A file says the same, with and without blanks.
expect 0 env create -q -n three -f two.yml
has three python-3.9
sed -e 's/python=3.9/python=3.12/' -e 's/when=.*$/when="python >=3.10"]/' two.yml > three.yml
expect 0 env update -q -n three -f three.yml --prune
has three numpy-2.3 python-3.12
printf '%s\n' python=3.12 "$WHEN" > specs.txt
expect 0 create -q -n four -f specs.txt
has four numpy-2.3 python-3.12

# What is not there can be given up.
expect 0 create -q -n five python=3.9 "$WHEN"
expect 0 remove -y -n five numpy
expect 0 install -q -n five python=3.12
has five python-3.12

# A lock remembers it.
expect 0 lock -q python=3.12 "$WHEN" -o gpkg.lock
expect 0 create -q -n six --lock gpkg.lock
has six numpy-2.3 python-3.12
expect 0 list -n six --requested
out_has "numpy>=2[when='python>=3.10']"
sed 's/python=3.9/python=3.12/' two.yml > environment.yml
expect 0 lock -q -f environment.yml -o file.lock
expect 0 lock check file.lock -f environment.yml
expect 0 lock update -q file.lock python
expect 0 create -q -n seven --lock file.lock
has seven numpy-2.3 python-3.12

# No pin has one.
expect 2 pin -n one 'python[when="numpy"]'
err_has 'a pin cannot have a condition'

finish
