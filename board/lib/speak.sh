# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Usage: speak.sh FOLDER
# In the root: FOLDER/LANGUAGE/NAME.wav of each line of board/prompts.d/LANGUAGE.txt, at 16 kHz in 8 bits of mu-law,
# which halves the size and leaves the voice as it is; trimmed, and as loud as it can be.

set -euo pipefail
folder=$1
spoken=$(mktemp --suffix=.wav)
trap 'rm -f "$spoken"' EXIT

for list in board/prompts.d/*.txt; do
    language=$(basename "$list" .txt)
    voice=''
    mkdir "$folder/$language"
    while IFS= read -r line; do
        [[ $line == *' = '* ]] || continue
        name=${line%% = *} text=${line#* = }
        if [[ $name == voice ]]; then
            voice=$text
            continue
        fi
        espeak-ng -v "$voice" -s 160 -w "$spoken" "$text"
        sox "$spoken" -r 16000 -c 1 -e mu-law "$folder/$language/$name.wav" \
            gain -3 highpass 120 silence 1 0.01 0.5% reverse silence 1 0.01 0.5% reverse pad 0.01 0.05 norm -1
    done <"$list"
done
