package jsontext

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions/secrets"
)

// CleanSettings is a file of an agent's configuration, for sessions.Configured: of
// settings, JSON at the top of the configuration's directory, what IsSecretSetting
// says of is "" instead, and what else looks like a secret a placeholder. Settings
// that can't be read are an error.
func CleanSettings(name string, content []byte) ([]byte, error) {
	if ext := path.Ext(name); ext != ".json" && ext != ".jsonc" || strings.Contains(name, "/") || len(bytes.TrimSpace(content)) == 0 {
		return content, nil
	}
	return cleanSettings(content)
}

func cleanSettings(content []byte) ([]byte, error) {
	return Replace(content, func(path []string, value []byte) []byte {
		if IsSecretSetting(path, value) {
			return []byte(`""`)
		}
		if text := Text(value); text != "" {
			if kept := RedactSetting(path, text); kept != text {
				return Quote(kept)
			}
		}
		return nil
	})
}

// RedactSetting is a text of an agent's settings with placeholders for what looks like
// a secret in it, also by the key that it stands under; and, under one that holds
// secrets, for what a header or a variable in it is given.
func RedactSetting(path []string, text string) string {
	if n := len(path); n > 0 && path[n-1] == "" {
		path = path[:n-1] // that of an array's element, as TOML's are called
	}
	if len(path) == 0 {
		return string(secrets.Redact([]byte(text)))
	}
	last := path[len(path)-1]
	if holdsHeaders(last) {
		return redactNamed(text, ":=")
	}
	if holdsSecrets(last) && isSettingName(text[:max(0, strings.IndexByte(text, '='))]) {
		return redactNamed(text, "=")
	}
	key := last + "="
	if kept, ok := strings.CutPrefix(string(secrets.Redact([]byte(key+text))), key); ok {
		return kept
	}
	return string(secrets.Redact([]byte(text)))
}

// redactNamed is a header or a variable without its value, whose scheme stays; nothing
// stays of a text with no name before one of the separators.
func redactNamed(text, separators string) string {
	i := strings.IndexAny(text, separators)
	if i < 0 || !isSettingName(text[:i]) {
		return leftOut
	}
	value := strings.TrimLeft(text[i+1:], " ")
	if value == "" {
		return text
	}
	for _, scheme := range []string{"basic ", "bearer ", "token "} {
		if n := len(scheme); len(value) > n && strings.EqualFold(value[:n], scheme) {
			value = value[n:]
		}
	}
	return strings.TrimSuffix(text, value) + leftOut
}

// RestoreSettings puts back into settings of CleanSettings's what was left out of them:
// all below a key at the top where nothing else has changed, else what those of now have
// at the same path, a text only if it is the same without its secrets. Which of a list's
// elements is the same no path says. Missing is how many are not put back.
func RestoreSettings(kept, now []byte) (settings []byte, missing int, err error) {
	cleaned, _ := cleanSettings(now) // settings of now that can't be read have nothing to give
	settings, err = Replace(kept, func(path []string, value []byte) []byte {
		inList := func() bool { return !bytes.Equal(valueAt(kept, path), value) } // it reads all that is before
		if len(path) == 1 && same(value, Lookup(cleaned, path[0])) && !inList() {
			return Lookup(now, path[0])
		}
		text := Text(value)
		holes := secrets.Count([]byte(text))
		if string(value) == `""` && IsSecretSetting(path, value) {
			holes = 1
		}
		if holes == 0 {
			return nil
		}
		if other := valueAt(now, path); other != nil && isLeft(path, text, other) && !inList() {
			return other
		}
		missing += holes
		return nil
	})
	return settings, missing, err
}

// isLeft reports whether a text without secrets, "" if it was one, is what is left of
// another value.
func isLeft(path []string, text string, other []byte) bool {
	if text == "" {
		return IsSecretSetting(path, other)
	}
	return RedactSetting(path, Text(other)) == text
}

// valueAt is the value at the path of objects' keys, nil if there is none.
func valueAt(settings []byte, path []string) []byte {
	for _, key := range path {
		if !bytes.HasPrefix(bytes.TrimSpace(settings), []byte("{")) {
			return nil
		}
		settings = Lookup(settings, key)
	}
	return settings
}

// same reports the same JSON, however it is indented or escaped.
func same(a, b []byte) bool {
	one, err := json.Marshal(json.RawMessage(a))
	other, bad := json.Marshal(json.RawMessage(b))
	return err == nil && bad == nil && bytes.Equal(one, other)
}

// IsSecretSetting reports whether a value of an agent's settings may be a secret: a
// variable's, what a server of tools is started or called with, or a string below a
// key that says so. The path is that of the value.
func IsSecretSetting(path []string, value []byte) bool {
	switch {
	case len(path) == 0 || strings.IndexByte("{[tfn", value[0]) >= 0: // no text and no number
		return false
	case slices.ContainsFunc(path[:len(path)-1], holdsSecrets):
		return true
	}
	return value[0] == '"' && slices.ContainsFunc(path, saysSecret)
}

// secretHolders are keys of objects of which any value may be a secret: variables,
// headers, and servers of tools, whose command lines and addresses hold keys too.
var secretHolders = []string{"env", "environment", "headers", "httpheaders", "mcp", "mcpservers", "queryparams"}

func holdsSecrets(key string) bool { return slices.Contains(secretHolders, folded(key)) }

func holdsHeaders(key string) bool {
	return holdsSecrets(key) && strings.HasSuffix(folded(key), "headers")
}

func folded(key string) string { return strings.ToLower(strings.ReplaceAll(key, "_", "")) }

// commandEnds end keys that hold the word for a secret, and a command that prints
// one or fetches it: apiKeyHelper, awsCredentialExport.
var commandEnds = []string{"helper", "export", "refresh"}

// passwordEnds end other names of what is given a secret: MYSQL_PWD, oauth2-bearer, and the
// variables of sshpass and redis-cli.
var passwordEnds = []string{"_pwd", "_pass", "sshpass", "rediscli_auth", "bearer"}

func saysSecret(key string) bool {
	key = strings.ToLower(key)
	if slices.ContainsFunc(commandEnds, func(word string) bool { return strings.HasSuffix(key, word) }) {
		return false
	}
	return secrets.SaysSecret(key) || slices.ContainsFunc(passwordEnds, func(end string) bool { return strings.HasSuffix(key, end) })
}
