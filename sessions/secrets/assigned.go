package secrets

import (
	"bytes"
	b64 "encoding/base64"
	"slices"
	"strings"
)

// mostAuthority is how much of an address is looked at for a password.
const mostAuthority = 512

// wellKnown are passwords of examples.
var wellKnown = []string{"pass", "password", "passwd", "pwd", "pw", "secret", "token", "key", "user", "x-oauth-basic"}

// address takes a password, or a token in the place of a user, in an address (RFC
// 3986, 3.2.1): https://user:password@host.
func (f *finder) address() bool {
	if !bytes.HasPrefix(f.text[f.i:], []byte("://")) {
		return false
	}
	start := f.i + len("://")
	host := f.text[start:min(len(f.text), start+mostAuthority)]
	if end := bytes.IndexAny(host, "?# \t\r\n\"'`<>()[]{}\\|,"); end >= 0 {
		host = host[:end]
	}
	if slash := bytes.IndexByte(host, '/'); slash >= 0 && !hasSlashInPassword(host, slash) {
		host = host[:slash]
	}
	at := bytes.LastIndexByte(host, '@')
	if at < 0 {
		return false
	}
	user, password, has := bytes.Cut(host[:at], []byte(":"))
	switch {
	case has && isGiven(password, 0) && !slices.Contains(wellKnown, strings.ToLower(string(password))):
		return f.take(start+len(user)+1, start+at, "password")
	case !has && len(user) >= 16 && isRandom(user, 3):
		return f.take(start, start+at, "secret")
	}
	return false
}

// hasSlashInPassword reports whether the first '/' of an address stands in a password, where it
// should be %2F: what is before it has no user, and a ':' that begins no port.
func hasSlashInPassword(host []byte, slash int) bool {
	_, password, has := bytes.Cut(host[:slash], []byte(":"))
	return has && len(password) > 0 && bytes.IndexByte(password, '@') < 0 && bytes.IndexByte(host[slash:], '@') >= 0 && len(bytes.Trim(password, "0123456789")) > 0
}

// mostKeyName is how long a word is that says what stands behind it.
const mostKeyName = 64

// assigned takes what stands behind a word that says that it is a secret, if it looks
// drawn by lot: TOKEN=…, "api_key": "…", --password …, Authorization: Bearer ….
func (f *finder) assigned() bool {
	end := f.run(f.i, &keyChars)
	dashes, ok := f.dashes()
	if !ok || end-f.i > mostKeyName {
		return false
	}
	key := string(f.text[f.i:end])
	v, ok := f.value(end, dashes > 0 || key == strings.ToUpper(key) && strings.Contains(key, "_") || strings.EqualFold(key, "bearer"))
	if !ok {
		return false
	}
	if isUserFlag(key, dashes) {
		return f.takeUser(v)
	}
	if !MaySaySecret(key) {
		return false
	}
	if i := f.i; f.begins(v) {
		if f.i = v; f.token() {
			return true
		}
		f.i = i
	}
	stop := f.valueEnd(v)
	value := f.text[v:stop]
	called := stop < len(f.text) && f.text[stop] == '(' // what is called has a name
	if !isGiven(value, f.quote(v, stop)) || f.cut(stop) || called {
		return false
	}
	if hasScheme(f.text[end:v], "basic ") && isCredentials(value) || hasScheme(f.text[end:v], "bearer ") && len(value) >= 8 && isAssigned(value) {
		return f.take(v, stop, "secret")
	}
	direct := bytes.Trim(f.text[end:v], `"'`)
	if string(direct) == "=" && isVariable(key) && len(value) >= 8 && isAssigned(value) {
		return f.take(v, stop, "secret")
	}
	more := SaysSecret(key)
	if len(value) < 16 || !isRandom(value, 3) && (!more || !isLong(value)) || isOther(value) && !more {
		return false
	}
	return f.take(v, stop, "secret")
}

// hasScheme reports whether what stands before a value ends with the scheme: basic of a
// user's name and password (RFC 7617), bearer of a token (RFC 6750).
func hasScheme(before []byte, scheme string) bool {
	before = before[max(0, len(before)-len(scheme)):]
	return strings.EqualFold(string(before), scheme)
}

// isCredentials reports a user's name and password in base64, and none of an example.
func isCredentials(value []byte) bool {
	text := make([]byte, b64.RawStdEncoding.DecodedLen(min(len(value), mostAuthority)))
	n, err := b64.RawStdEncoding.Decode(text, bytes.TrimRight(value[:min(len(value), mostAuthority)], "="))
	_, password, ok := bytes.Cut(text[:n], []byte(":"))
	return err == nil && ok && len(password) > 0 && !slices.Contains(wellKnown, strings.ToLower(string(password)))
}

// dashes is how many stand before a word that begins at i; not ok if it is the rest of
// a longer one.
func (f *finder) dashes() (n int, ok bool) {
	for n < 3 && n < f.i && f.text[f.i-1-n] == '-' {
		n++
	}
	return n, n < 3 && (n == 0 || n == f.i || !word[f.text[f.i-1-n]])
}

// between may stand around what parts a value from its key; a backslash only before a
// quote.
func (f *finder) between(i, most int) int {
	for range most {
		if i+1 < len(f.text) && f.text[i] == '\\' && (f.text[i+1] == '"' || f.text[i+1] == '\'') {
			i++
		}
		if i >= len(f.text) || strings.IndexByte(" \t\"'`*", f.text[i]) < 0 || f.star(i) {
			break
		}
		i++
	}
	return i
}

// star reports one that is a value's own, as in '*x', and no mark around it.
func (f *finder) star(i int) bool {
	return f.text[i] == '*' && i > 0 && strings.IndexByte("=\"'", f.text[i-1]) >= 0 && i+1 < len(f.text) && quotedValue[f.text[i+1]] && f.text[i+1] != '*'
}

// value is where the value begins of a key that ends at i; loose is one of which it
// may stand behind blanks or a comma alone.
func (f *finder) value(i int, loose bool) (int, bool) {
	at := f.between(i, 4)
	parted := loose && at > i
	quoted := at > i && strings.IndexByte("\"'", f.text[at-1]) >= 0
	for n := 0; n < 2 && at < len(f.text); n++ {
		c := f.text[at]
		if c != '=' && c != ':' && c != '>' && c != '|' && (c != ',' || !quoted) {
			break
		}
		at, parted = at+1, true
	}
	if !parted {
		return 0, false
	}
	at = f.between(at, 6)
	for _, scheme := range []string{"bearer ", "basic ", "token "} {
		if end := at + len(scheme); end < len(f.text) && strings.EqualFold(string(f.text[at:end]), scheme) {
			at = f.between(end, 2)
		}
	}
	return at, at < len(f.text)
}

// valueEnd is where the value ends that begins at v.
func (f *finder) valueEnd(v int) int {
	if before := f.text[v-1]; before == '"' || before == '\'' || before == '`' {
		return f.run(v, &quotedValue)
	}
	end := f.run(v, &bareValue)
	for end > v && strings.IndexByte(".:!?", f.text[end-1]) >= 0 {
		end-- // the end of a sentence
	}
	return end
}

// quote is what stands around a value, 0 if that is nothing.
func (f *finder) quote(v, stop int) byte {
	if before := f.text[v-1]; strings.IndexByte("\"'`", before) >= 0 && stop < len(f.text) && f.text[stop] == before {
		return before
	}
	return 0
}

// isUserFlag reports an option that takes a user and a password, as curl's.
func isUserFlag(key string, dashes int) bool {
	return dashes == 1 && key == "u" || dashes == 2 && key == "user"
}

// takeUser takes the password of user:password.
func (f *finder) takeUser(v int) bool {
	stop := f.valueEnd(v)
	colon := bytes.IndexByte(f.text[v:min(stop, v+mostKeyName)], ':')
	if colon <= 0 || f.cut(stop) {
		return false
	}
	password := f.text[v+colon+1 : stop]
	return len(password) >= 8 && isGiven(password, f.quote(v, stop)) && isRandom(password, 3.5) && f.take(v+colon+1, stop, "password")
}

// variableEnds end the names of variables that hold a secret whatever it looks like.
var variableEnds = []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "API_KEY", "APIKEY", "ACCESS_KEY", "SECRET_KEY", "PRIVATE_KEY"}

func isVariable(key string) bool {
	return slices.ContainsFunc(variableEnds, func(end string) bool { return strings.HasSuffix(key, end) })
}

var (
	// words are in a key that says that its value is a secret.
	words = []string{"token", "secret", "password", "passwd", "passphrase", "credential", "apikey", "api_key", "api-key", "accesskey", "access_key", "access-key", "privatekey", "private_key", "private-key", "authorization"}
	// ends end one that may.
	ends = []string{"key", "pwd", "auth", "bearer", "pat"}
	// others are in a key of something else.
	others = []string{"public", "keyboard", "hotkey", "tokenizer", "cache", "hash", "checksum", "fingerprint"}
	// places end a key of where a secret is, or what fetches it.
	places = []string{"helper", "export", "refresh", "file", "path", "url", "dir", "_id", "-id", "name"}
)

// MaySaySecret reports a name of what may be a secret, by its look or by where it stands.
func MaySaySecret(key string) bool {
	key = strings.ToLower(key)
	in := func(word string) bool { return strings.Contains(key, word) }
	at := func(end string) bool { return strings.HasSuffix(key, end) }
	return (SaysSecret(key) || slices.ContainsFunc(ends, at)) && !slices.ContainsFunc(others, in) && !slices.ContainsFunc(places, at)
}

// SaysSecret reports a name with a word for a secret in it: an id is one too, or whatever
// else it names, unless that is where a secret is, or how many there are.
func SaysSecret(key string) bool {
	key = strings.ToLower(key)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(key, word) })
}

// isOther reports what a key of a map or a list looks like: a UUID, the name of a
// constant, or a name and a value.
func isOther(value []byte) bool {
	value = bytes.TrimLeft(value, "/.")
	uuid := len(value) == 36 && value[8] == '-' && value[13] == '-' && value[18] == '-' && value[23] == '-'
	constant := bytes.IndexByte(value, '_') > 0 && bytes.Equal(bytes.ToUpper(value), value)
	return uuid || constant || bytes.Contains(bytes.TrimRight(value, "="), []byte("="))
}
