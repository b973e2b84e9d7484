#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# tatp report: pages of generated and of damaged statistics, looked at in a real browser, and what it refuses.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

here=$top_srcdir/tests/report
has_python jinja2 || tap_skip_all "python3-jinja2 is not installed"
PATH=$TOOLS_DIR:$PATH
cd "$tap_dir" || exit 1

generate() { "$PYTHON3" "$here/generate.py" "$@"; }

# browse NAME PAGE [STATS]: each result of the browser's look at a page.
browse() {
    local line results=0
    if [[ ! -x /usr/bin/chromium || ! -x /usr/bin/chromedriver ]] || ! "$PYTHON3" -c 'import selenium' 2>/dev/null; then
        tap_skip "$1, in a browser" "needs chromium, chromium-driver and python3-selenium"
        return
    fi
    while IFS= read -r line; do
        results=$((results + 1))
        case $line in
        "ok - "*) tap_ok "$1: ${line#ok - }" ;;
        *) tap_not_ok "$1: ${line#not ok - }" ;;
        esac
    done < <(timeout --kill-after=5 "$HANG_LIMIT" "$PYTHON3" "$here/browse.py" "${@:2}" 2>errors)
    tap_check "$1: the browser came to an end" test "$results" -ge 19 -a ! -s errors
}

# page NAME ARGUMENT...: the statistics are in NAME.jsonl, the page becomes NAME.html.
page() {
    tap_check "$1: a page" tatp report "$1.jsonl" "${@:2}" --output "$1.html"
    browse "$1" "$1.html" "$1.jsonl"
}

# has NAME TEXT WHAT: the page has that text.
has() { tap_check "$3" grep -qF -- "$2" "$1.html"; }

# figures: numbers with their units, of a text
figures() { grep -oE '[0-9]+([.][0-9]+)?( ([kM]?B|m?s|%)[^ ,;:.)]*)?' | xargs; }

# summary ARGUMENT...: what the program prints, without its messages.
summary() { tatp report "$@" 2>/dev/null; }

# advice ARGUMENT...: of the summary
advice() { summary "$@" | sed -n 's/^advice: *//p'; }

# --- pages ---

generate --ranks 16 --view 16.crs >16.jsonl
page 16 --view 16.crs
has 16 "from 16.8 MB to 0 B a call" "16: the view is put into a sentence"

generate --ranks 8 --per-node 2 --view 8.crs >8.jsonl
two_leaves crossed.conf 0,2 1,3
mv 8.crs a,b.crs
tap_is "$(tatp report 8.jsonl --view a,b.crs --topology crossed.conf | grep -o 'from .* a call,\|dla:file=[^ ]*')" \
    "from 8.39 MB to 0 B a call,
dla:file=a\\,b.crs,topology=crossed.conf'" "8: placed in the network that is given, also by the command"

cp "$top_srcdir/tests/fixtures/recorded/4.1.jsonl" recorded.jsonl
cp "$top_srcdir/tests/fixtures/recorded/4.1.crs" .
page recorded --view 4.1.crs
has recorded '<span>--times</span> <span>512</span> <span>--ranks-per-node</span> <span>8</span>' "recorded: what was simulated"
has recorded '<h2 id="many">With 4' "recorded: with more ranks"
has recorded '12.5 GB/s' "recorded: seconds are those of a link"
tap_is "$(sed -n '/id="many-table"/,/<\/table>/p' recorded.html | grep -c '>seconds<')" 0 "recorded: no simulated seconds"
tap_is "$(grep -c 'id="many"' 16.html)" 0 "16: a view without accesses is not simulated"

generate --ranks 4096 --per-node 16 --leaf 16 --serving 2 --neighbours 64 --calls 80 --view 4096.crs >4096.jsonl
page 4096 --view 4096.crs

generate --ranks 10000 --per-node 16 --leaf 25 --neighbours 125 --by node >10000.jsonl
page 10000

generate --host '<script>alert(%d)</script>' --program '<img src=x onerror=alert(1)>' --view hostile.crs >hostile.jsonl
page hostile --view hostile.crs
has hostile '&lt;script&gt;alert(0)&lt;/script&gt;' "hostile: the host's name is there, as text"

head -c -100 16.jsonl >truncated.jsonl
page truncated
has truncated "truncated.jsonl:2: " "truncated: the page says so"
printf '{"op": "write"}\nno JSON\n[]\n%s\n' "$(head -n 1 16.jsonl)" >damaged.jsonl
tap_check "damaged: a page" tatp report damaged.jsonl --output damaged.html
has damaged "damaged.jsonl:2: " "damaged: lines that are left out are told"
sed 's/"node_of_rank": \[0/"node_of_rank": [77/' 16.jsonl >unfit.jsonl
tap_check "unfit: a page" tatp report unfit.jsonl --output unfit.html
has unfit "unfit.jsonl:1: " "unfit: a plan that cannot be is told"
jq -c 'del(.plan)' 16.jsonl >plain.jsonl 2>/dev/null || sed 's/, "plan": .*}$/}/' 16.jsonl >plain.jsonl
page plain

job='{"user": "anna", "id": "4711", "host": "n0", "command": "./generate --size 8 <in>", "mpi": "Open MPI 4.1.4", "record": "16.crs"}'
generate --files 5 --calls 40 --unknown --job "$job" --ended 86400 >files.jsonl
page files
for fact in "Command</dt><dd class=\"words\">./generate --size 8 &lt;in&gt;" "Host</dt><dd class=\"words\">n0" "User</dt><dd class=\"words\">anna" \
    "Job</dt><dd class=\"words\">4711" "Version</dt><dd class=\"words\">fcoll/tatp 1.1.0" "MPI</dt><dd class=\"words\">Open MPI 4.1.4" \
    "Date</dt><dd class=\"words\">$(date -d @86399 '+%F %T')" "Ranks</dt><dd class=\"words\">16 ranks on 4 nodes"; do
    has files "<dt>$fact</dd>" "files: the head has ${fact%%<*}"
done
tap_is "$(grep -c '<dt>\(Command\|Host\|User\|Job\|Version\|MPI\|Date\)<' 16.html)" 0 "16: the head leaves out what is not known"
sed 's/"id": "4711"/"id": "generated"/' files.jsonl | tatp report /dev/stdin --output own.html >out
tap_is "$(grep -c "<dt>Job<" own.html)" 0 "files: the head leaves out the MPI's own name of the job"
generate --files 80 --calls 160 >80.jsonl
page 80
generate --files 3 --calls 40 --level files >level.jsonl
page level

tap_check "two runs: a page" tatp report plain.jsonl 16.jsonl --output two.html
has two "152.7 ms instead of 152.7 ms (1.00), 25.2 MB" "two runs: they are compared"
sed 's/"seconds": 0.0/"seconds": 0.00/; s/"crossing_bytes": [0-9]*/"crossing_bytes": 0/; s/"run": "g/"run": "h/' 16.jsonl >faster.jsonl
page faster
tatp report 16.jsonl faster.jsonl --output two.html >out
tap_is "$(sed -n 's/^compared: *//p' out)" "15.3 ms instead of 152.7 ms (0.10), 0 B between nodes instead of 25.2 MB (0.00), \
83.9 MB·hops instead of 83.9 MB·hops (1.00)" "two runs: they are compared in the summary"
tap_is "$(grep -o '<td class="ratio">[^<]*' two.html | sed 's/.*>//' | xargs)" "1.00 1.00 1.00 0.10 0.00 1.00" "two runs: a table with the ratios"
generate --calls 4 --run longer >longer.jsonl
tap_check "two runs of other bytes: no sums are compared" grep -q '^compared: *no, .* 33 554 432 .* 67 108 864 ' \
    <(tatp report 16.jsonl longer.jsonl --output two.html)
tap_is "$(grep -o '<td class="ratio">[^<]*' two.html | sed 's/.*>//' | tail -n 1)" 1.00 "two runs of other bytes: the ratios are for the same number"

cat >topology.conf <<END
SwitchName=leaf0 Nodes=n[0-3]
END
tap_check "another network: a page" tatp report 16.jsonl --topology topology.conf --output flat.html
has flat "network <code>topology.conf</code>" "another network: the page names it"
has files "--mca fcoll_tatp_topology FILE" "no network: it is asked for"
tap_check "no network, but one for the page: a page" tatp report files.jsonl --topology topology.conf --output flat.html
has flat " topology.conf." "no network, but one for the page: the page names it"
tap_is "$(grep -c "fcoll_tatp_topology FILE" flat.html)" 0 "no network, but one for the page: nothing else is said of it"

# command NAME: the first command of a page.
command_on() { grep -o '<pre><code>.*' "$1.html" | head -n 1 | sed 's/<[^>]*>//g'; }

tap_is "$(grep -o '<pre><code>.*' flat.html | sed 's/<[^>]*>//g' | head -n 2)" \
    "mpirun -np 16 --map-by slot --mca fcoll tatp ./generate --size 8 &lt;in&gt;
tatp report files.jsonl --view 16.crs" "commands: to map the ranks by slot, to look at the record of the run"
tap_is "$(command_on 16)" "mpirun -np 16 --map-by dla:file=16.crs --mca fcoll tatp ./program" "a command: to place by the view"
tap_is "$(tatp report files.jsonl --topology topology.conf --view 16.crs -o flat.html | sed -n '/^advice/{n;s/^ *//p}')" \
    "mpirun -np 16 --map-by dla:file=16.crs,topology=topology.conf --mca fcoll tatp ./generate --size 8 <in>" "a command: in the summary, with the program's"
has flat '<span>fcoll_tatp_topology</span> <span>topology.conf</span>' "a command: with the network"
sed 's/"mpi": "Open MPI/"mpi": "MPICH/' files.jsonl >mpich.jsonl
tap_is "$(tatp report mpich.jsonl --view 16.crs -o flat.html | sed -n '/^advice/{n;s/^ *//p}')" \
    "dla map --file 16.crs --hostfile hosts --format hostfile > placed && tatp run mpiexec -f placed -n 16 ./generate --size 8 <in>" \
    "a command: of another MPI"
tap_is "$(tatp report mpich.jsonl -o flat.html | sed -n '/^advice/{n;s/^ *//p}')" \
    "tatp run mpiexec -ppn 4 -n 16 ./generate --size 8 <in>" "a command: of another MPI, to map the ranks by slot"
tap_is "$(grep -c "fcoll ^tatp" flat.html) $(grep -c "fcoll ^tatp" 16.html)" "0 1" "Open MPI's own component can be timed where there is one"
tap_is "$(advice level.jsonl --view 16.crs -o flat.html | figures)" "4 100 %" "level of files: advice by a view"
generate --by node >node.jsonl
printf 'FILEVIEW\n0 17\n\n\n%s\n' "$(yes 1 | head -n 17 | xargs)" >none.crs
why=$(dla map --file none.crs --nodes 'n[0-3]:4' | sed -n 's/^# not/Not/p')
for stats in level.jsonl 16.jsonl node.jsonl; do
    tap_is "$(advice $stats --view none.crs -o flat.html)" "$why." "$stats: nothing to place by a record without weight, as dla says"
done
sed 's/"crossing_bytes": [0-9]*/&, "noncollective_bytes": 67108864/; s/"calls": [0-9]*/"calls": 0/; s/"\(bytes\|aggregators\|crossing_bytes\|hop_bytes\)": [0-9]*/"\1": 0/g' \
    level.jsonl | head -n 1 >others.jsonl
tap_is "$(summary others.jsonl --view none.crs -o flat.html | sed -n '/^measured\|^advice/p' | figures)" "1 16 4 67.1 MB 67.1 MB 0 B 5 7" \
    "calls that are not collective"
sed 's/"\(aggregators\|crossing_bytes\|hop_bytes\|hop_bytes_otp\)": [0-9]*/"\1": 0/g' level.jsonl >alone.jsonl
for view in "" "--view none.crs"; do
    # shellcheck disable=SC2086 # words
    tatp report alone.jsonl $view -o flat.html >out 2>err
    tap_is "$(grep -c "^advice: .*without aggregators" out)$(cat err)" 1 "calls without aggregators: nothing to place, and no notice ${view:-, no view}"
done
generate --ranks 4 --level files --view 4.crs >4.jsonl
tap_is "$(advice 4.jsonl --view 4.crs -o flat.html | grep -c "100 %")" 0 "level of files: none of a run on one node"
tap_is "$(cd / && tatp report "$tap_dir/16.jsonl" --output /dev/stdout | grep -c '^</html>$')" 1 "a page goes into a pipe too"

# --- the summary on the terminal ---

mkdir lines && cp 16.jsonl lines/run.one.jsonl
tap_is "$(summary lines/run.one.jsonl)" "\
measured:      generate: 1 write and 1 read of 33.6 MB in all, in 1 file, by 16 ranks on 4 nodes, mapped by node
time:          152.7 ms in calls: shuffle 67 %, file access 28 %, who accesses what 3 %, file domains and their aggregators 2 %, \
view and range under 1 %; waited before them 2.0 ms
between nodes: 25.2 MB of 33.6 MB that were moved (75 %)
hop-bytes:     83.9 MB·hops, 7 % less than with the usual aggregators (90.2 MB·hops)
plans:         1 plan for 2 calls; metadata 640 B (under 1 % of the data)
advice:        The ranks are mapped by node, so consecutive ones are on different nodes. If these access neighbouring regions, \
a mapping by slot keeps their bytes on a node.
               mpirun -np 16 --map-by slot --mca fcoll tatp ./program
lines/run.one.html" "summary: five lines, one recommendation, and the page beside the statistics"
tap_check "summary: the page is there" grep -qF '<meta name="generator" content="tatp report">' lines/run.one.html
advised=$(advice 16.jsonl --view 16.crs -o lines/named.html)
tap_contains "$advised" "from 16.8 MB to 0 B a call" "summary: the recommendation is that of the view"
tap_check "summary: the page has the same one" grep -qF -- "$advised" lines/named.html
tap_is "$(summary plain.jsonl 16.jsonl -o two.html | head -n 1 | figures)" "1 1 33.6 MB 1 16 4 2" "summary: of the last of two runs"
sed 's/, "plan": .*}$/}/; s/"aggregators": [0-9]*/"aggregators": 0/; s/"domains": "even"/"domains": "none"/; s/"schedule": 1/"schedule": 0/
    s/"hop_bytes\(_otp\)*": [0-9]*/"hop_bytes\1": 0/g; s/"crossing_bytes": [0-9]*/"crossing_bytes": 0/' 16.jsonl >alone.jsonl
tap_contains "$(advice alone.jsonl -o alone.html)" "without aggregators" "summary: without aggregators no placement is recommended"
cat 16.jsonl >>alone.jsonl
tap_is "$(summary alone.jsonl -o alone.html | grep '^plans:' | figures)" "1 2 2 1.28 kB 1 %" "summary: calls without aggregators"
has alone "16.8 MB" "calls without aggregators: a page"
sed 's/"call": /"opens": 3, "open_seconds": 1.5, "closes": 2, "close_seconds": 0.25, &/' recorded.jsonl >opened.jsonl
tap_is "$(summary opened.jsonl -o opened.html | grep -o '[0-9]* openings.*')" "3 openings 1.50 s, 2 closings 250.0 ms" \
    "openings and closings are told"
tap_is "$(summary level.jsonl -o level.html | sed -n '/^measured/s/ of .*//p; /^plans/p' | figures)" "20 20 1 40 12.8 kB 1 %" "summary: lines of files count their calls and plans"
generate --program $'a\e[31mname' >escape.jsonl
tap_is "$(summary escape.jsonl -o escape.html | grep -c "^measured:      a�\[31mname: ")" 1 \
    "summary: no control characters of a program's name"
tap_is "$(LC_ALL=C PYTHONIOENCODING=ascii summary 16.jsonl -o ascii.html | wc -l)" 8 "summary: on a terminal without UTF-8"
tap_is "$(cd lines && summary - </dev/null 2>&1 | wc -l)" 0 "summary: none of statistics that are not there"

# --- hostile statistics ---

# hostile NAME SCRIPT NAMED: 16.jsonl changed by sed leads to a page, and to a line on stderr that names it.
hostile() {
    sed "$2" 16.jsonl >hostile.jsonl
    tatp report hostile.jsonl -o hostile-2.html >out 2>err
    tap_is "$? $(head -n 1 err | grep -c "^tatp: hostile.jsonl:1: .*$3")" "0 $([[ -z $3 ]]; echo $?)" "hostile: $1"
}
hostile "half of a surrogate pair" 's/"generate"/"\\ud800gen"/' ""
hostile "a NUL" 's/"file": "/&\\u0000/; s/"n0"/"n0\\u0000"/' ""
hostile "a schedule that is a list" '1s/"schedule": 1/"schedule": [1]/' schedule
hostile "ranks that are no whole number" '1s/"ranks": 16/"ranks": 16.0/' ranks
hostile "a byte order mark" '1s/^/\xef\xbb\xbf/' ""
# noted FILE LINE NAMED: as statistics it leads to notes, of which a line names that.
noted() {
    tap_is "$(ulimit -v 2000000 && tatp report "$1" -o hostile-2.html 2>&1 | sed -n "$2" | grep -c "^tatp: $1:$3 ")" 1 "hostile: $1:$3"
}
noted /dev/stdin 20p 20: < <(yes '{"op": 1}' | head -n 1000)
noted /dev/stdin 21p " 980" < <(yes '{"op": 1}' | head -n 1000)
noted /dev/stdin 1p " .* 262144" < <(yes '{}')
noted /dev/zero 1p "1: .* 67108864"
cp 16.jsonl $'\xff.jsonl'
tap_check "hostile: a name that is not UTF-8" tatp report $'\xff.jsonl'

# --- output that cannot be written ---

for output in 1\>/dev/full 1\>\&- "-o /dev/full >out"; do
    eval "tatp report 16.jsonl $output 2>err"
    tap_is "$?: $(cut -d : -f 1,2 err)" "1: tatp: $([[ $output == -o* ]] && echo /dev/full || echo standard output)" "output that cannot be written: $output"
done
(tatp report 16.jsonl 2>err; echo $? >status) | true
tap_is "$(cat status): $(cat err)" "141: " "a reader that is gone"

# --- a network without a tree, a view of one triangle ---

"$PYTHON3" -c '
import json, sys
for line in sys.stdin:
    call = json.loads(line)
    if "plan" in call:
        call["plan"]["distances"] = {"source": "x", "place_of_node": [0, 0, 1, 1], "hops": [2, 4, 4, 2]}
    print(json.dumps(call))' <16.jsonl >hops.jsonl
tap_check "hops by node class: a page" tatp report hops.jsonl
generate --view 16.crs >/dev/null
dla convert 16.crs --to mtx | awk '/^%/ || !sizes { sizes += !/^%/; print; next } { print $1, $2, $1 < $2 ? $3 : 0 }' >triangle.mtx
weight_inside() { grep -o 'which need not leave it, is [^.]*' "$1" | head -n 1; }
inside=$(tatp report 16.jsonl --view 16.crs -o both.html >/dev/null && weight_inside both.html)
tap_check "a view has a weight inside nodes" test -n "$inside"
tap_check "a view of one triangle: a page" tatp report 16.jsonl --view triangle.mtx -o one.html
tap_is "$(weight_inside one.html)" "$inside" "a view of one triangle: the same weight"

# The page's name: what was there before is overwritten only if it was a page, or if it was asked for by name.
tap_is "$(summary lines/run.one.jsonl | tail -n 1)" lines/run.one.html "again: the page is replaced"
echo "<html>mine</html>" >lines/run.one.html
tap_refuses 1 "lines/run.one.html: --output" tatp report lines/run.one.jsonl
tap_is "$(cat lines/run.one.html)" "<html>mine</html>" "another file of that name: it is unchanged"
tap_is "$(summary lines/run.one.jsonl -o lines/run.one.html | tail -n 1)" lines/run.one.html "asked for by name: overwritten"
cp 16.jsonl lines/run.html
tap_refuses 1 "lines/run.html: --output" tatp report lines/run.html
tap_refuses 1 "./16.jsonl:" tatp report 16.jsonl -o ./16.jsonl
tap_check "the statistics are unchanged" cmp 16.jsonl lines/run.html
tap_is "$(cd lines && head -n 2 ../16.jsonl | summary /dev/stdin | tail -n 1)" report.html "statistics from a pipe: report.html"
tap_is "$(cd lines && summary - <../16.jsonl | tail -n 1)" report.html "statistics from standard input: report.html"
for name in 16.crs topology.conf 16.jsonl; do ln -s "../$name" lines; done
tap_is "$(cd lines && tatp report <(cat 16.jsonl) -v <(cat 16.crs) -t - <topology.conf -o pipes.html 2>&1)" \
    "$(cd lines && tatp report 16.jsonl -v 16.crs -t topology.conf -o pipes.html | sed 's/file=16.crs,topology=topology.conf/file=FILE,topology=FILE/')" "all files from pipes"
rm -f lines/run.html lines/run.one.html
mkdir lines/run.one.html
tap_refuses 1 "lines/run.one.html: --output" tatp report lines/run.one.jsonl

# --- a run, and the run that its page promises ---

# written NAME DOMAINS ARGUMENT...
written() { stats=$PWD/$1.jsonl array 48 2x2x4 -np 16 --mca fcoll_tatp_domains "$2" "${@:3}"; }

# of_figure TITLE PAGE: the hop-bytes below a drawing of links.
of_figure() { sed -n "/<h3>$1/,/<figcaption>/s/.*<figcaption>\([^;]*\);.*/\1/p" "$2"; }

if has_component fcoll tatp && has_component rmaps dla; then
    start_cluster
    tap_check "run: written and read" written run even --map-by node --mca fcoll_tatp_record "$PWD/run.crs"
    page run --view run.crs
    tap_check "run: again, placed by its view" written placed even --map-by "dla:file=$PWD/run.crs"
    page placed
    tap_is "$(of_figure "Placed by the view" run.html)" "$(of_figure "This run" placed.html)" \
        "run: placed by its view it has the hop-bytes that its page said"
    tap_check "fitted: written and read" written fitted fitted --map-by slot --mca fcoll_tatp_stripe_size 1024 --mca fcoll_tatp_num_aggregators 4
    page fitted --view run.crs
    tap_is "$(sed -n 's/.*"hop_bytes_otp": \([0-9]*\).*/\1/p; q' fitted.jsonl)" \
        "$(sed -n 's/.*usual aggregators, even domains<.th><td>\([^<]*\)<.*/\1/p' fitted.html | tr -cd 0-9)" \
        "fitted: the usual ones have even domains"
    tap_check "auto: an array by node, recorded" run -np 16 --map-by node --mca fcoll tatp --mca fcoll_tatp_record "$PWD/auto.crs" \
        --mca fcoll_tatp_stats "$PWD/auto.jsonl" "$cube" --size 128 --grid 2x2x4 --repeat 1 --file "$files/cube"
    page auto --view auto.crs
    has auto "from 12.6 MB to 0 B a call" "auto: placed by the view, fitted domains leave nothing between nodes"
    stop_cluster
else
    tap_skip "run" "a component is not built"
fi

# --- what is refused ---

: >empty.jsonl
printf '%%PDF-1.5\n\xff\xfe\n' >file.pdf
echo '{"op": "write", "fi' >torn.jsonl
echo FILEVIEW >short.crs
generate --ranks 8 --view 8.crs >8.jsonl
echo 'SwitchName=leaf0 Nodes=m[0-3]' >other.conf
tap_refuses_each "what is no statistics, view or network" "tatp report --output refused.html" <<'END'
1|missing.jsonl|missing.jsonl: 'tatp doctor'
1|no$'\e'file.jsonl|no?file.jsonl:
1|16.crs|16.crs: 'dla show 16.crs' --view
1|two.html|two.html:
1|16.jsonl empty.jsonl|empty.jsonl:
1|file.pdf|file.pdf:
1|lines|lines: 'tatp report --table lines'
2||STATS
2|16.jsonl --nonsense|--nonsense
2|16.jsonl --csv|--csv --table
1|16.jsonl --view short.crs|short.crs:2:
1|16.jsonl --view - <topology.conf|/dev/stdin:1:
2|- --view - <topology.conf|'-'
1|16.jsonl --view 8.crs|8.crs: 8 16
1|16.jsonl --topology other.conf|other.conf: n0
1|16.jsonl --output none/page.html|none/page.html:
END
tap_is "$(find . -name 'refused.html*')" "" "no page, and no part of one"
tatp report torn.jsonl >out 2>err
tap_is "$?: $(cut -d ' ' -f 1,2 err | xargs)$(cat out)" "1: tatp: torn.jsonl:1: tatp: torn.jsonl:" "statistics without a line that is complete"
bash -c 'ln -s elsewhere page.html.$$; exec "$TOOLS_DIR/tatp" report 16.jsonl --output page.html' 2>err
tap_is "$?: $(cut -d : -f 1,2 err)$(cat elsewhere 2>/dev/null)" "1: tatp: page.html" "a link in place of a page's draft is not followed"

# --- a table of jobs ---

mkdir table empty without
echo 'raise ImportError' >without/jinja2.py
recorded=$top_srcdir/tests/fixtures/recorded/4.1
# on_two_nodes RECORD RUN: the recorded run as if on two nodes, in which all bytes left their node.
on_two_nodes() {
    sed "s|\"nodes\": 1|\"nodes\": 2|; s|\"crossing_bytes\": 0|\"crossing_bytes\": 4096|; s|\"run\": \"[^\"]*|\"run\": \"$2|
        1s|\"call\"|\"job\": {\"user\": \"b\\\\u00e9a\", \"record\": \"$1\"}, \"call\"|; s|, \"plan\": .*|}|" "$recorded.jsonl"
}
on_two_nodes "$recorded.crs" again >table/recorded.json
on_two_nodes "$recorded.crs" misfit | sed 's/"bytes": 4096/"bytes": 5000/' >table/misfit
on_two_nodes missing.crs gone >>table/misfit
on_two_nodes "$recorded.crs" "$(sed -n 's/^% run: //p' "$recorded.crs")" | sed 's/"bytes": 4096/"bytes": 5000/' >table/same.json
generate --files 3 --calls 40 --level files --job "$job" --ended 86400 >table/level.jsonl
{ echo '{"op": "write"}' && echo '{"op": "read"}' && generate --run '' --program $'a\e[31mname'; } >table/damaged.jsonl
cp 16.crs file.pdf table
echo '{"a": 1}' >table/other.json
begun=$(date -d @1795306505.97 '+%F %H:%M')
tap_is "$(tatp report --table table 2>err)" "\
date              user  program     ranks    bytes  seconds  between nodes   placed
$(date -d @86430 '+%F %H:%M')  anna  generate       16   671 MB    3.685         503 MB        -
-                 -     a�[31mname     16  33.6 MB    0.153        25.2 MB        -
$begun  béa   cube            8    10 kB    0.003        8.19 kB        -
$begun  béa   cube            8  8.19 kB    0.003        8.19 kB        -
$begun  béa   cube            8  8.19 kB    0.003        8.19 kB  4.10 kB
$begun  béa   cube            8    10 kB    0.003        8.19 kB  4.10 kB
total                   6 jobs              705 MB    3.852         529 MB        -" "table: a line for each job, and the sums"
tap_check "table: one notice about each file with damaged lines" test "$(wc -l <err) $(grep -c '^tatp: table/damaged.jsonl:1: ' err)" = "1 1"
tap_is "$(tatp report --table table/recorded.json --csv)" "\
date,user,program,ranks,bytes,seconds,crossing_bytes,placed_bytes
$(date -d @1795306505.976 '+%FT%T%:z'),béa,cube,8,8192,0.00344,8192,4096" "table: comma-separated, with all digits"
tap_is "$(tatp report --table table/recorded.json table/level.jsonl | wc -l)" 4 "table: of files"
for name in '=cmd()|x' +1 -1 @x "a=b"; do
    generate --job "{\"user\": \"$name\"}" --program "$name" >formula.json && tatp report --table --csv formula.json | tail -n 1
done >formulas.csv
tap_is "$(cut -d, -f 2,3 formulas.csv | xargs -d '\n')" "'=cmd()|x,'=cmd()|x '+1,'+1 '-1,'-1 '@x,'@x a=b,a=b" "table: no formulas for spreadsheets"
mkdir copies && cp table/level.jsonl copies && ln table/level.jsonl copies/hard.jsonl && ln -s ../table/level.jsonl copies/link.jsonl
head -n 2 table/level.jsonl >copies/begin.jsonl
tap_is "$(tatp report --table copies copies/ table/level.jsonl ./table/level.jsonl)" "$(tatp report --table table/level.jsonl)" \
    "table: a job counts once, whatever names and copies its file has"
# Where others may write, what a file's lines say of the user and copies of others' lines are not believed.
mkdir -m 1777 public && cp table/level.jsonl public/b.jsonl && cp table/recorded.json public/c.jsonl
tap_is "$(tatp report --table public 2>err | grep -c " $(id -un) ") $(grep -c "^tatp: public/[bc].jsonl:.* $(id -un)'s" err)" "2 2" \
    "table: where others may write, the owner of a file is the user"
if ((EUID == 0)); then
    cp public/b.jsonl public/a.jsonl && chown 65534 public/a.jsonl
    tap_is "$(tatp report --table public/ 2>/dev/null | awk '{ print $3 }' | sort | uniq -c | xargs)" \
        "1 jobs 1 $(stat -c %U public/a.jsonl) 1 program 2 $(id -un)" "table: ... and takes nobody's jobs away by a copy"
else
    tap_skip "table: copies of other users" "needs root"
fi
tap_is "$(summary ./files.jsonl files.jsonl | head -n 1)" "$(summary files.jsonl | head -n 1)" "a file that is named twice counts once"
tap_is "$(PYTHONPATH=without tatp report --table table/recorded.json 2>&1 | wc -l)" 3 "table: without Jinja"
tap_refuses_each "table: what is refused" "tatp report --table" <<'END'
1|empty|empty: empty/%j.json
1|table 16.crs|16.crs:
2|table --view 16.crs|--table --view
END
PYTHONPATH=without tap_refuses 1 python3-jinja2 tatp report 16.jsonl
TATP_REPORT_DIR=/nonexistent tap_refuses 1 "/nonexistent/__main__.py: TATP_REPORT_DIR" tatp report 16.jsonl
tap_plan
