package jsontext

import (
	"bytes"
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
// a secret in it, also by the key that it stands under.
func RedactSetting(path []string, text string) string {
	if len(path) == 0 {
		return string(secrets.Redact([]byte(text)))
	}
	key := path[len(path)-1] + "="
	if kept, ok := strings.CutPrefix(string(secrets.Redact([]byte(key+text))), key); ok {
		return kept
	}
	return string(secrets.Redact([]byte(text)))
}

// RestoreSettings puts back into settings of CleanSettings's what a placeholder stands
// for, where those of now have a text at the same path that is the same without its
// secrets. Missing is how many placeholders are left.
func RestoreSettings(kept, now []byte) (settings []byte, missing int, err error) {
	if secrets.Count(kept) == 0 {
		return kept, 0, nil
	}
	const sep = "\x00"
	texts := map[string][]byte{} // by path and text without secrets; nil where there are several
	// Settings of now that can't be read have nothing to give.
	_, _ = Replace(now, func(path []string, value []byte) []byte {
		if text := Text(value); text != "" {
			at := strings.Join(path, sep) + sep + RedactSetting(path, text)
			if other, ok := texts[at]; ok && !bytes.Equal(other, value) {
				value = nil
			}
			texts[at] = value
		}
		return nil
	})
	settings, err = Replace(kept, func(path []string, value []byte) []byte {
		if text := Text(value); secrets.Count([]byte(text)) > 0 {
			return texts[strings.Join(path, sep)+sep+text]
		}
		return nil
	})
	return settings, secrets.Count(settings), err
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

func holdsSecrets(key string) bool {
	return slices.Contains(secretHolders, strings.ToLower(strings.ReplaceAll(key, "_", "")))
}

// secretWords are what a key of a secret holds.
var secretWords = []string{"token", "secret", "password", "passwd", "apikey", "api_key", "api-key", "authorization", "credential"}

// commandEnds end keys that hold the word for a secret, and a command that prints
// one or fetches it: apiKeyHelper, awsCredentialExport.
var commandEnds = []string{"helper", "export", "refresh"}

func saysSecret(key string) bool {
	key = strings.ToLower(key)
	if slices.ContainsFunc(commandEnds, func(word string) bool { return strings.HasSuffix(key, word) }) {
		return false
	}
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(key, word) })
}
