package jsontext

import (
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions/secrets"
)

// leftOut stands where a value stood that its name says to be a secret.
const leftOut = "[umbra-left-out:setting]"

// RedactCommand is a command line with placeholders for what may be a secret in it: by
// its look, by the option, variable or setting that it is the value of, and in settings
// that are given as JSON. What is beside it stays, to be recognized.
func RedactCommand(command []string) []string {
	kept := make([]string, len(command))
	for i, word := range command {
		option := ""
		if i > 0 {
			option = command[i-1]
		}
		kept[i] = redactWord(option, word)
	}
	return kept
}

// redactWord redacts a word that stands behind another one.
func redactWord(before, word string) string {
	if !strings.HasPrefix(before, "-") || strings.Contains(before, "=") || isOption(word) {
		before = ""
	}
	if at := attachedHeader(word); at > 0 {
		return word[:at] + redactHeader(word[at:])
	}
	return redactGiven(before, word)
}

// isOption reports a word that is no value though it stands behind an option that may
// take one: --long and -x, not -hunter2.
func isOption(word string) bool {
	name, _, _ := strings.Cut(word, "=")
	long, ok := strings.CutPrefix(name, "--")
	if ok {
		return strings.Trim(long, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
	}
	short, ok := strings.CutPrefix(name, "-")
	return ok && len(short) <= 2
}

// redactGiven redacts what an option or a variable of that name is given, which may be
// a setting with a value of its own; "" is the name of none.
func redactGiven(name, text string) string {
	path := settingPath(name)
	switch {
	case secrets.IsPlaceholder(text):
		return text
	case isSecretName(path) && text != "" && !isCount(path[len(path)-1], text):
		return leftOut
	case takesHeader(name):
		return redactHeader(text)
	}
	if inner, value, ok := strings.Cut(text, "="); ok && isSettingName(inner) {
		return inner + "=" + redactGiven(inner, value)
	}
	return redactText(name, text)
}

// isSettingName reports what may name a value: an option, a variable, or a path of keys,
// of which any may be in quotes.
func isSettingName(name string) bool {
	bare := ""
	for i, part := range strings.Split(strings.TrimSpace(name), `"`) {
		if i%2 == 0 {
			bare += part
		}
	}
	return bare != "" && !strings.ContainsAny(bare, " \t\n'{}[]():/&?,;")
}

// settingPath are the keys of an option's or a setting's name.
func settingPath(name string) []string {
	return strings.FieldsFunc(strings.TrimLeft(strings.TrimSpace(name), "-"), func(r rune) bool { return strings.ContainsRune(`."'`, r) })
}

// isCount reports a number that is no secret though its name says so: a count of tokens
// has up to seven digits, a version or a switch up to three.
func isCount(key, value string) bool {
	most := 3
	if strings.Contains(strings.ToLower(key), "token") {
		most = 7
	}
	return len(value) <= most && strings.Trim(value, "0123456789.") == ""
}

// headerFlag is the letter of curl's option that takes a header, and of others', alone or
// behind other letters: -H, -sH.
const headerFlag = 'H'

func takesHeader(option string) bool {
	at := strings.IndexByte(option, headerFlag)
	return at > 0 && at == len(option)-1 && isShort(option[:at]) || strings.HasSuffix(strings.TrimSuffix(strings.ToLower(option), "s"), "header")
}

// isShort reports a dash, and letters of short options behind it.
func isShort(options string) bool {
	letters, ok := strings.CutPrefix(options, "-")
	return ok && strings.Trim(strings.ToLower(letters), "abcdefghijklmnopqrstuvwxyz") == ""
}

// attachedHeader is where the header begins that stands behind its option in one word,
// -HName: value; 0 if none does.
func attachedHeader(word string) int {
	at := strings.IndexByte(word, headerFlag)
	if at < 1 || !isShort(word[:at]) {
		return 0
	}
	name, _, ok := strings.Cut(word[at+1:], ":")
	if !ok || !isSettingName(name) || strings.Contains(name, "=") {
		return 0
	}
	return at + 1
}

// redactHeader redacts what a header has whose name says that it is a secret.
func redactHeader(text string) string {
	name, _, ok := strings.Cut(text, ":")
	if ok && (saysSecret(name) || secrets.MaySaySecret(name) || strings.HasSuffix(strings.ToLower(name), "cookie")) {
		return redactNamed(text, ":")
	}
	return redactText("headers", text)
}

// tableHasSecret reports whether a setting is given a table or a list in one line, as TOML
// has them, or JSON that can't be read, with a key that says that it has a secret. What
// stands in quotes may be taken for a key.
func tableHasSecret(name, table string) bool {
	if strings.IndexAny(strings.TrimSpace(table), "{[") != 0 {
		return false
	}
	separators := ":"
	if name != "" && !strings.HasPrefix(name, "-") {
		separators = "=:" // what an option is given may be a shell's, with variables
	}
	path := settingPath(name)
	for {
		i := strings.IndexAny(table, separators)
		if i < 0 {
			return false
		}
		key := table[:i]
		key = key[strings.LastIndexAny(key, "{[,\n")+1:]
		if strings.ContainsAny(strings.TrimSpace(key), " ]") && table[i] == ':' {
			key = "" // a sentence's
		}
		if keys := settingPath(key); len(keys) > 0 && (isSecretName(append(slices.Clip(path), keys...)) || table[i] == ':' && holdsSecrets(keys[len(keys)-1])) {
			return true
		}
		table = table[i+1:]
	}
}

// namesOfPlaces end names of where a secret is, of how many there may be, and of
// whether there is one.
var namesOfPlaces = []string{"file", "path", "url", "dir", "id", "name", "stdin", "fd", "tokens"}

func isSecretName(path []string) bool {
	if len(path) == 0 {
		return false
	}
	last := strings.ToLower(path[len(path)-1])
	if slices.ContainsFunc(path[:len(path)-1], holdsVariables) || len(path) > 1 && holdsVariables(last) {
		return true
	}
	return saysSecret(last) && !slices.ContainsFunc(namesOfPlaces, func(end string) bool { return strings.HasSuffix(last, end) })
}

// holdsVariables reports a key of which any value may be a secret; set is that of
// Codex's shell_environment_policy.
func holdsVariables(key string) bool { return key == "set" || holdsSecrets(key) }

// redactText redacts settings as JSON or a table, and any other text by its look and the
// name in front of it.
func redactText(name, text string) string {
	above := settingPath(name)
	kept, err := Replace([]byte(text), func(path []string, value []byte) []byte {
		path = slices.Concat(above, path)
		if IsSecretSetting(path, value) && string(value) != `""` {
			return Quote(leftOut)
		}
		if inner := Text(value); inner != "" {
			if kept := RedactSetting(path, inner); kept != inner {
				return Quote(kept)
			}
		}
		return nil
	})
	if err == nil {
		return string(kept)
	}
	if tableHasSecret(name, text) {
		return leftOut
	}
	if name != "" {
		if kept, ok := strings.CutPrefix(string(secrets.Redact([]byte(name+" "+text))), name+" "); ok {
			return kept
		}
	}
	return string(secrets.Redact([]byte(text)))
}
