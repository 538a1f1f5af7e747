package secrets

import "bytes"

// Restore puts back into a text of Redact's what was left out of it, from the text of
// now: all of it where nothing else has changed, else what stands in a line that is
// there once in both, below the same line. No secret comes to a place that only may
// be its own. Missing is how many placeholders are left.
func Restore(kept, now []byte) (text []byte, missing int) {
	if Count(kept) == 0 {
		return kept, 0
	}
	r := redact(now)
	if bytes.Equal(r.text, kept) {
		return now, 0
	}
	here, there := (redaction{text: kept}).places(), r.places()
	done := 0
	eachLine(kept, func(above []byte, start, end int) {
		at := place{string(above), string(kept[start:end])}
		if from := there[at]; len(from) == 1 && len(here[at]) == 1 {
			text = append(append(text, kept[done:start]...), r.original(from[0].start, from[0].end)...)
			done = end
		}
	})
	text = append(text, kept[done:]...)
	return text, Count(text)
}

// place is where a line stands: its text, and the line above that is not blank.
type place struct{ above, line string }

// places are where the lines with placeholders are.
func (r redaction) places() map[place][]span {
	found := map[place][]span{}
	eachLine(r.text, func(above []byte, start, end int) {
		at := place{string(above), string(r.text[start:end])}
		found[at] = append(found[at], span{start: start, end: end})
	})
	return found
}

// eachLine calls f for each line with placeholders, text[start:end].
func eachLine(text []byte, f func(above []byte, start, end int)) {
	var above []byte
	for start := 0; start < len(text); {
		end := len(text)
		if i := bytes.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i
		}
		line := text[start:end]
		if Count(line) > 0 {
			f(above, start, end)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			above = line
		}
		start = end + 1
	}
}
