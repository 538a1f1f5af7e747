// Package secrets finds secrets in texts by their look: what issuers' tokens begin
// with, private keys, passwords in addresses, and what stands behind a word that says
// so and looks drawn by lot. It knows which words say so, no agent and no file: what a
// setting means judges who knows it.
package secrets

import (
	"bytes"
	"slices"
)

// Placeholders stand where a secret stood, in any kind of text: no blank, no quote, no
// backslash. One begins and ends with what is nowhere else in it, so that what stands
// beside it never makes another one.
const (
	opening = "[umbra-left-out:"
	closing = ']'
)

// mostKind is how long the name of a kind may be.
const mostKind = 24

// placeholderEnd is where the placeholder that begins at i ends, 0 if none does.
func placeholderEnd(text []byte, i int) int {
	if !bytes.HasPrefix(text[i:], []byte(opening)) {
		return 0
	}
	for j := i + len(opening); j < len(text) && j <= i+len(opening)+mostKind; j++ {
		switch c := text[j]; {
		case c == closing && j > i+len(opening):
			return j + 1
		case c != '-' && !isLower(c):
			return 0
		}
	}
	return 0
}

// IsPlaceholder reports a text that is a placeholder and nothing else.
func IsPlaceholder(text string) bool {
	end := placeholderEnd([]byte(text), 0)
	return end > 0 && end == len(text)
}

// Count is how many placeholders are in a text.
func Count(text []byte) (n int) {
	for {
		i := bytes.Index(text, []byte(opening))
		if i < 0 {
			return n
		}
		end := placeholderEnd(text, i)
		if end > 0 {
			n++
		}
		text = text[max(end, i+1):]
	}
}

// OmitPlaceholders is a text with a blank in the place of each placeholder.
func OmitPlaceholders(text []byte) []byte {
	var out []byte
	for i := 0; i < len(text); {
		if end := placeholderEnd(text, i); end > 0 {
			out, i = append(out, ' '), end
			continue
		}
		out, i = append(out, text[i]), i+1
	}
	return out
}

// Redact is a text with a placeholder for each secret in it, which says of what kind
// it was; the text itself if there is none. The same text has the same placeholders,
// and a text that was redacted is not changed any more.
func Redact(text []byte) []byte { return redact(text).text }

// RedactPart is what Redact leaves of text[start:end]. Of a secret that goes on beyond it,
// the placeholder is there whole.
func RedactPart(text []byte, start, end int) []byte {
	r := redact(text)
	return r.text[r.placeOf(start, false):r.placeOf(end, true)]
}

// placeOf is where a place of the original is now: before or after the placeholder of a
// secret that it is within.
func (r redaction) placeOf(at int, after bool) int {
	grown := 0
	for _, h := range r.holes {
		began := h.start - grown
		if at <= began {
			break
		}
		if at < began+len(h.secret) {
			if after {
				return h.end
			}
			return h.start
		}
		grown = h.end - began - len(h.secret)
	}
	return at + grown
}

// redaction is a text without its secrets, and what they were.
type redaction struct {
	text  []byte
	holes []hole // by their place
}

// hole is a placeholder at text[start:end], and what stood there.
type hole struct {
	start, end int
	secret     []byte
}

// redact looks again until nothing is found: what stands between two secrets may look
// like one without them.
func redact(text []byte) redaction {
	r := redaction{text: text}
	for {
		found := find(r.text)
		if len(found) == 0 {
			return r
		}
		r = r.without(found)
	}
}

// without takes more out. A span may hold placeholders, and never a part of one.
func (r redaction) without(spans []span) redaction {
	var out redaction
	done, holes := 0, r.holes
	copyTo := func(end int) {
		for len(holes) > 0 && holes[0].end <= end {
			moved := len(out.text) - done
			out.holes = append(out.holes, hole{holes[0].start + moved, holes[0].end + moved, holes[0].secret})
			holes = holes[1:]
		}
		out.text = append(out.text, r.text[done:end]...)
		done = end
	}
	for _, s := range spans {
		copyTo(s.start)
		secret := r.original(s.start, s.end)
		for len(holes) > 0 && holes[0].start < s.end {
			holes = holes[1:]
		}
		start := len(out.text)
		out.text = append(append(append(out.text, opening...), s.kind...), closing)
		out.holes = append(out.holes, hole{start, len(out.text), secret})
		done = s.end
	}
	copyTo(len(r.text))
	return out
}

// original is a part of the text with its secrets.
func (r redaction) original(start, end int) []byte {
	var out []byte
	i, _ := slices.BinarySearchFunc(r.holes, start, func(h hole, at int) int { return h.start - at })
	for ; i < len(r.holes) && r.holes[i].end <= end; i++ {
		out = append(append(out, r.text[start:r.holes[i].start]...), r.holes[i].secret...)
		start = r.holes[i].end
	}
	return append(out, r.text[start:end]...)
}

// Found is a text that looks like a secret, and of what kind.
type Found struct {
	Kind       string
	Start, End int // in the text that was looked through
}

// Find lists what looks like a secret, by its place; no two overlap.
func Find(text []byte) (list []Found) {
	for _, s := range find(text) {
		list = append(list, Found{Kind: s.kind, Start: s.start, End: s.end})
	}
	return list
}
