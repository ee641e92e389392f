# remove JOBS FOLDER...: removes what deployments of these jobs left in the folders. JOBS are numbers
# with blanks between. Tells
#   removed PATH
#   error WHY
jobs=$1
shift
for folder in "$@"; do
    for job in $jobs; do
        at=$folder/gpkg-job-$job
        is_ours "$at" || continue
        if said=$(remove_tree "$at" 2>&1); then
            tell removed "$at"
        else
            tell error "$at: $(last_line "$said")"
        fi
    done
done
