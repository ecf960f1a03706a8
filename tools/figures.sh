#!/bin/sh
# Run the tools whose figures depend on how queries are mapped, with the arguments that the docs name: `make figures`.
#
#   make figures                                   those that end within a few minutes
#   make figures KDD=labelled.tsv EXCITE=log.tsv   with the parts that need real data; these are skipped otherwise
#   make figures LONG=yes USERS=100000             the long ones too; USERS is the size of the two that take hours
#   make figures ONLY="topic_figures clump_figures"
#
# What each prints goes to figures/TOOL.txt. Tools marked * write their page themselves; of the others the tables are
# put into the page by hand, so that the text around them is read again.
#
#   tool                       page                                                              minutes, one busy core
#   meaning_figures            docs/mapping.md                                                   2
#   meaning_methods            docs/mapping.md                                                   1
#   topic_figures              docs/knowledge.md                                                 1
#   shared_phrase_figures      docs/shared-phrases.md                                            1
#   stream_figures             docs/methods/self-adjusting.md (`trees`; the others map nothing)  2
#   click_graph_figures        docs/methods/click-graph-removal.md                               1
#   semantic_dp_figures *      docs/methods/semantic-dp.md (plot), its table by hand             4
#   clump_figures *            docs/methods/clump.md, partition.md (plot), their tables by hand  7 with 3,000
#   microaggregation_figures * docs/methods/*-microaggregation.md (plot), their tables by hand   long
#   last_step_figures *        docs/last-step.md                                                 long
#   dp_risk_figures            docs/differential-privacy.md                                      long
#   risk_figures *             docs/risk.md, the cards in docs/methods                           long
#   synthetic_dp_figures       docs/methods/synthetic-dp.md, by USERS                            long
#   policy_figures *           docs/policies.md, by USERS; 80 with 100,000                       long
#
# The figures of click_figures, identifier_figures, semantic_dp_user_figures, set_union_figures and srp_figures do not
# depend on it, nor do the reproductions of papers, which map as the papers did.
set -eu
cd "$(dirname "$0")/.."
: "${PYTHON:=.venv/bin/python}" "${KDD:=}" "${EXCITE:=}" "${LONG:=}" "${ONLY:=}" "${USERS:=2000}" "${OUT:=figures}"
mkdir -p "$OUT"

run() {  # run TOOL [ARGUMENT ...]: skipped where ONLY names others
    case " ${ONLY:-$1} " in *" $1 "*) ;; *) return 0 ;; esac
    echo "== $*"
    tool=$1
    shift
    "$PYTHON" "tools/$tool.py" "$@" >>"$OUT/$tool.txt"
}
long() {  # the same, where long ones are asked for, by LONG or by name
    if [ -n "$LONG$ONLY" ]; then run "$@"; else echo "-- $1: long, skipped (LONG=yes)"; fi
}

rm -f "$OUT"/*.txt
if [ -n "$KDD$EXCITE" ]; then run meaning_figures $KDD ${EXCITE:+--excite "$EXCITE"}; fi
run meaning_methods ${EXCITE:+--excite "$EXCITE"}
if [ -n "$KDD" ]; then run topic_figures "$KDD"; fi
run shared_phrase_figures --generated
if [ -n "$EXCITE" ]; then run shared_phrase_figures --name Excite "$EXCITE"; fi
run stream_figures trees 100000
run click_graph_figures
long semantic_dp_figures docs/methods
long clump_figures 3000
long clump_figures 10000
long microaggregation_figures
long last_step_figures
long last_step_figures --table fresh --methods semantic,plain,url,word
if [ -n "$EXCITE" ]; then long last_step_figures --table excite --log "$EXCITE" --methods semantic,plain,word; fi
long dp_risk_figures --users 4000
long risk_figures ${EXCITE:+--excite "$EXCITE"} --work "$OUT/risk"
long synthetic_dp_figures --exact --users "$USERS" --attacked "$USERS" --logs "$OUT/synthetic"
long policy_figures --users "$USERS" --output "$OUT/policies"
