# gpkg remove and why where dependencies hang on extras (CEP 44) and conditions (CEP 43)
. "$(dirname "$0")/lib.sh"

package python 3.12 0
package base 1 0
package pytest 8 0 base
package sphinx 7 0
package numpy 2 0
package old 1 0
package gpu 1 0
EXTRAS='"test":["pytest"],"docs":["sphinx"],"all":["app[extras=[test,docs]]"]' \
    package app 1 0 'numpy[when="python>=3.10"]' 'old[when="python<3.10"]' 'gpu[when=__cuda]'
package tool 1 0 pytest base numpy old gpu sphinx
package manual 1 0 'app[extras=docs]'

# A requested extra holds what it needs, as a condition does that is met; one that is not does not.
expect 0 create -q -n one 'app[extras=test]' python tool
has one app-1 base-1 gpu-1 numpy-2 old-1 pytest-8 python-3.12 sphinx-7 tool-1
expect 0 remove -y -n one tool
# Whether the machine meets a condition was known where this was installed, and may change.
has one app-1 base-1 gpu-1 numpy-2 pytest-8 python-3.12
expect 0 why -n one base
out_is "base 1 0
app with its extra test is requested
└─ app 1 needs pytest for its extra test
   └─ pytest 8 needs base"
expect 0 why -n one base --json
json '[s["extra"] for s in d["chains"][0]["steps"]] == ["test", None]'
expect 0 why -n one numpy
out_has 'app 1 needs numpy if python>=3.10'

# Nothing is held for an extra that nobody asked for.
expect 0 create -q -n two app tool
expect 0 remove -y -n two tool
has two app-1 gpu-1

# Extras of extras.
expect 0 create -q -n three 'app[extras=all]' tool
expect 0 remove -y -n three tool
has three app-1 base-1 gpu-1 pytest-8 sphinx-7

# What asked for an extra leaves, and what the extra brought goes along.
expect 0 create -q -n four app manual
has four app-1 manual-1 sphinx-7
expect 0 remove -y -n four manual
has four app-1
# An extra that was asked for cannot do without what it needs.
expect 0 create -q -n five 'app[extras=test]' sphinx
expect 0 remove -y -n five base
has five sphinx-7

# What a condition brought goes when the condition ceases to hold, whoever else it is for.
package low 1.0 0
package cond 1.0 0
package brings 1.0 0 low
package other 1.0 0 'cond[when="low"]'
expect 0 create -n conditions brings other
has conditions brings-1.0 cond-1.0 low-1.0 other-1.0
expect 0 remove -y -n conditions brings
has conditions other-1.0

finish
