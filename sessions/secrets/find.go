package secrets

import "bytes"

// span is a part of a text that is a secret.
type span struct {
	start, end int
	kind       string
}

// finder looks for secrets from the beginning to the end. What it looks at before it
// has reached it is bounded, or remembered, so that the time is linear.
type finder struct {
	text []byte
	i    int
	runs map[*charset]span // the last stretch of such bytes that was looked at
	keys int               // where the next end of a private key begins, if not before i
	out  []span
}

// find is what looks like a secret: no two overlap, and none holds a part of a
// placeholder.
func find(text []byte) []span {
	f := finder{text: text, runs: map[*charset]span{}}
	for f.i < len(text) {
		f.step()
	}
	return f.out
}

// step takes in what is at i.
func (f *finder) step() {
	c := f.text[f.i]
	if c == opening[0] {
		if end := placeholderEnd(f.text, f.i); end > 0 {
			f.i = end
			return
		}
	}
	if c == '-' && f.privateKey() || c == ':' && f.address() {
		return
	}
	if !word[c] || !f.begins(f.i) {
		f.i++
		return
	}
	if f.token() || f.telegram() || f.assigned() {
		return
	}
	f.i++
}

// take notes a secret that begins at or behind i, and goes on behind it.
func (f *finder) take(start, end int, kind string) bool {
	f.out = append(f.out, span{start, end, kind})
	f.i = end
	return true
}

// begins reports whether a word may begin at i: behind no letter or digit, or behind
// an escape, as in "\nghp_".
func (f *finder) begins(i int) bool {
	if i == 0 {
		return true
	}
	before := f.text[i-1]
	if before == '\\' {
		return false // it is one half of an escape
	}
	return !word[before] || i > 1 && f.text[i-2] == '\\' && bytes.IndexByte([]byte("nrt"), before) >= 0
}

// run is where the stretch of such bytes that holds or begins at i ends.
func (f *finder) run(i int, of *charset) int {
	if known := f.runs[of]; known.start <= i && i < known.end {
		return known.end
	}
	end := i
	for end < len(f.text) && of[f.text[end]] {
		end++
	}
	f.runs[of] = span{start: i, end: end}
	return end
}

// cut reports whether a placeholder begins at i: what was before it may have been
// longer, and is not judged.
func (f *finder) cut(i int) bool { return i < len(f.text) && placeholderEnd(f.text, i) > 0 }

// token takes what begins as an issuer's secrets do.
func (f *finder) token() bool {
	if f.jwt() {
		return true
	}
	for _, r := range rulesBy[f.text[f.i]] {
		if !bytes.HasPrefix(f.text[f.i:], []byte(r.begin)) {
			continue
		}
		start := f.i + len(r.begin)
		end := f.run(start, r.of)
		for end > start && f.text[end-1] == '.' {
			end-- // the end of a sentence
		}
		n := end - start
		if n < r.least || r.most > 0 && n > r.most || f.cut(end) || isExample(f.text[start:end]) || !r.plain && !isToken(f.text[start:end]) {
			continue
		}
		if !r.keep {
			start = f.i
		}
		return f.take(start, end, r.kind)
	}
	return false
}

// mostHeader and mostPayload are how long the first two parts of a JSON web token may
// be.
const mostHeader, mostPayload = 2 << 10, 16 << 10

// jwt takes a JSON web token (RFC 7519): three parts in base64, of which the first two
// are JSON objects.
func (f *finder) jwt() bool {
	const object = "eyJ" // {"
	if !bytes.HasPrefix(f.text[f.i:], []byte(object)) {
		return false
	}
	end := f.run(f.i, &jwtChars)
	header := bytes.IndexByte(f.text[f.i:min(end, f.i+mostHeader)], '.')
	if header < 10 || !bytes.HasPrefix(f.text[f.i+header+1:end], []byte(object)) {
		return false
	}
	payload := f.i + header + 1
	n := bytes.IndexByte(f.text[payload:min(end, payload+mostPayload)], '.')
	if n < 10 || f.cut(end) {
		return false
	}
	for f.text[end-1] == '.' && end-1 > payload+n {
		end--
	}
	return f.take(f.i, end, "json-web-token")
}

// telegram takes a bot's token: its number, a colon, AA and 33 characters.
func (f *finder) telegram() bool {
	if !isDigit(f.text[f.i]) {
		return false
	}
	colon := f.i
	for colon < len(f.text) && colon-f.i < 11 && isDigit(f.text[colon]) {
		colon++
	}
	if colon-f.i < 8 || !bytes.HasPrefix(f.text[colon:], []byte(":AA")) {
		return false
	}
	end := f.run(colon+1, &wordDash)
	return end-colon-1 == 35 && !f.cut(end) && f.take(f.i, end, "telegram-token")
}

// mostKey is how long a private key may be.
const mostKey = 64 << 10

var (
	keyBegin = []byte("-----BEGIN ")
	keyEnd   = []byte("-----END ")
	keyName  = []byte("PRIVATE KEY")
)

// privateKey takes a private key as PEM or OpenPGP have it (RFC 7468, RFC 9580), on lines
// or with escaped ends of lines.
func (f *finder) privateKey() bool {
	if !bytes.HasPrefix(f.text[f.i:], keyBegin) {
		return false
	}
	name := f.i + len(keyBegin)
	body := bytes.Index(f.text[name:min(len(f.text), name+64)], keyName)
	if body < 0 || bytes.ContainsAny(f.text[name:name+body], "-\n\\") {
		return false
	}
	body += name + len(keyName)
	if f.keys < body && f.keys >= 0 {
		f.keys = bytes.Index(f.text[body:], keyEnd)
		if f.keys >= 0 {
			f.keys += body
		}
	}
	if f.keys < 0 || f.keys-body > mostKey || !isKey(f.text[body:f.keys]) {
		return false
	}
	end := f.keys + len(keyEnd)
	rest := f.text[end:min(len(f.text), end+64)]
	name = bytes.Index(rest, keyName)
	if name < 0 || bytes.ContainsAny(rest[:name], "-\n\\") {
		return false
	}
	dashes := bytes.Index(rest, []byte("-----"))
	if last := bytes.TrimPrefix(rest[name+len(keyName):], []byte(" BLOCK")); !bytes.HasPrefix(last, []byte("-----")) {
		return false
	}
	return f.take(f.i, end+dashes+len("-----"), "private-key")
}

// isKey reports whether what stands between the two ends is one key, and not dots.
func isKey(body []byte) bool {
	if bytes.Contains(body, keyBegin) {
		return false
	}
	n := 0
	for _, c := range body {
		if n++; !base64[c] {
			n = 0
		}
		if n >= 24 {
			return true
		}
	}
	return false
}
