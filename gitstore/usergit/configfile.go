package usergit

import (
	"bytes"
	"errors"
	"io/fs"
	"strconv"
	"strings"
)

// settings are configuration values by key: section and name in lower case,
// the subsection between them as written. The last value is the one in force.
type settings map[string][]string

func (s settings) last(key string) (string, bool) {
	values := s[key]
	if len(values) == 0 {
		return "", false
	}
	return values[len(values)-1], true
}

// boolean reads a value as Git does; what is no boolean is false.
func (s settings) boolean(key string) bool {
	value, ok := s.last(key)
	if !ok {
		return false
	}
	switch strings.ToLower(value) {
	case "true", "yes", "on":
		return true
	}
	n, err := strconv.Atoi(value)
	return err == nil && n != 0
}

// readSettings reads one configuration file, without following includes, as
// Git itself does for the repository's format. A missing file has no settings.
func readSettings(path string) (settings, error) {
	data, err := ReadFile(path, MaxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return settings{}, nil
	}
	if err != nil {
		return nil, err
	}
	s, line := parseSettings(data)
	if line > 0 {
		return nil, &DamagedError{Path: path, Why: "bad configuration in line " + strconv.Itoa(line)}
	}
	return s, nil
}

// parseSettings returns the number of the first bad line, 0 if all is well.
func parseSettings(data []byte) (settings, int) {
	s := settings{}
	section := ""
	line := 0
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	for len(data) > 0 {
		var text string
		var lines int
		text, data, lines = logicalLine(data)
		line += lines
		text = strings.TrimLeft(text, " \t")
		if strings.HasPrefix(text, "[") {
			name, rest, ok := parseSection(text)
			if !ok {
				return nil, line
			}
			section, text = name, strings.TrimLeft(rest, " \t")
		}
		if text == "" || text[0] == '#' || text[0] == ';' {
			continue
		}
		key, value, ok := parseSetting(text)
		if !ok || section == "" {
			return nil, line
		}
		key = section + "." + key
		s[key] = append(s[key], value)
	}
	return s, 0
}

// logicalLine cuts a line, joined with those that a final backslash outside a
// comment continues.
func logicalLine(data []byte) (text string, rest []byte, lines int) {
	var b strings.Builder
	quoted, comment := false, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '\n':
			return b.String(), data[i+1:], lines + 1
		case c == '\r' && i+1 < len(data) && data[i+1] == '\n':
			continue
		case comment:
		case c == '\\' && bytes.HasPrefix(data[i+1:], []byte("\n")):
			lines++
			i++
			continue
		case c == '\\' && bytes.HasPrefix(data[i+1:], []byte("\r\n")):
			lines++
			i += 2
			continue
		case c == '\\' && i+1 < len(data):
			b.WriteByte(c)
			i++
		case c == '"':
			quoted = !quoted
		case (c == '#' || c == ';') && !quoted:
			comment = true
		}
		b.WriteByte(data[i])
	}
	return b.String(), nil, lines + 1
}

// parseSection reads `[name]`, `[name "sub"]` or the old `[name.sub]`.
func parseSection(text string) (name, rest string, ok bool) {
	end := strings.IndexAny(text, "] \t")
	if end < 0 {
		return "", "", false
	}
	name = strings.ToLower(text[1:end])
	text = strings.TrimLeft(text[end:], " \t")
	if strings.HasPrefix(text, "]") {
		return name, text[1:], name != ""
	}
	if !strings.HasPrefix(text, `"`) {
		return "", "", false
	}
	var sub strings.Builder
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			if i++; i < len(text) {
				sub.WriteByte(text[i])
			}
		case '"':
			ok := strings.HasPrefix(text[i+1:], "]")
			return name + "." + sub.String(), strings.TrimPrefix(text[i+1:], "]"), ok && name != ""
		default:
			sub.WriteByte(text[i])
		}
	}
	return "", "", false
}

// parseSetting reads `name = value`; a name alone is true.
func parseSetting(text string) (name, value string, ok bool) {
	end := strings.IndexFunc(text, func(c rune) bool {
		return !(c == '-' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z')
	})
	if end < 0 {
		return strings.ToLower(text), "true", true
	}
	name = strings.ToLower(text[:end])
	text = strings.TrimLeft(text[end:], " \t")
	switch {
	case name == "":
		return "", "", false
	case text == "" || text[0] == '#' || text[0] == ';':
		return name, "true", true
	case text[0] != '=':
		return "", "", false
	}
	value, ok = parseValue(strings.TrimLeft(text[1:], " \t"))
	return name, value, ok
}

// parseValue removes quotes, escapes, a comment and trailing blanks.
func parseValue(text string) (string, bool) {
	var b strings.Builder
	kept := 0 // length up to the last byte that is not a trailing blank
	quoted := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"':
			quoted = !quoted
			kept = b.Len()
			continue
		case !quoted && (c == '#' || c == ';'):
			return b.String()[:kept], true
		case c == '\\':
			i++
			if i == len(text) {
				return "", false
			}
			at := strings.IndexByte(`\"ntb`, text[i])
			if at < 0 {
				return "", false
			}
			b.WriteByte("\\\"\n\t\b"[at])
			kept = b.Len()
			continue
		}
		b.WriteByte(c)
		if quoted || c != ' ' && c != '\t' {
			kept = b.Len()
		}
	}
	return b.String()[:kept], !quoted
}
