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
	if name, value, ok := strings.Cut(word, "="); ok && isSettingName(name) {
		return name + "=" + redactValue(name, value)
	}
	if strings.HasPrefix(before, "-") && !strings.HasPrefix(word, "-") && !strings.Contains(before, "=") {
		return redactValue(before, word)
	}
	return redactText("", word)
}

// isSettingName reports what may name a value: an option, a variable, or a path of keys.
func isSettingName(name string) bool {
	return name != "" && !strings.ContainsAny(name, " \t\n\"'{}[]():/&?,;")
}

// redactValue redacts what an option or a variable is given.
func redactValue(name, value string) string {
	path := strings.Split(strings.TrimLeft(name, "-"), ".")
	if value != "" && strings.Trim(value, "0123456789.") != "" && isSecretName(path) {
		return leftOut
	}
	return redactText(name, value)
}

// namesOfPlaces end names of where a secret is, of how many there may be, and of
// whether there is one.
var namesOfPlaces = []string{"file", "path", "url", "dir", "id", "name", "stdin", "fd", "tokens"}

func isSecretName(path []string) bool {
	last := strings.ToLower(path[len(path)-1])
	if slices.ContainsFunc(path[:len(path)-1], holdsSecrets) || len(path) > 1 && holdsSecrets(last) {
		return true
	}
	return saysSecret(last) && !slices.ContainsFunc(namesOfPlaces, func(end string) bool { return strings.HasSuffix(last, end) })
}

// redactText redacts settings as JSON, and any other text by its look and the name in
// front of it.
func redactText(name, text string) string {
	kept, err := Replace([]byte(text), func(path []string, value []byte) []byte {
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
	if name != "" {
		if kept, ok := strings.CutPrefix(string(secrets.Redact([]byte(name+" "+text))), name+" "); ok {
			return kept
		}
	}
	return string(secrets.Redact([]byte(text)))
}
