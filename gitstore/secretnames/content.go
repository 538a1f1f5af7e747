package secretnames

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"strings"
)

// maxLoginFile is the size over which a file is not taken for one that IsLogin knows: those
// have two kilobytes.
const maxLoginFile = 64 << 10

// IsLogin tells whether the content of a file of a directory is a secret, as isLogin has it.
// There are none without patterns, and none that a pattern with a "!" takes out.
func (s Patterns) IsLogin(dir, name string, content []byte) bool {
	if len(s) == 0 || !isLogin(name, content) {
		return false
	}
	p := s.last(dir, name)
	return p == nil || !p.taken
}

// isLogin tells whether a file holds what a program logs in to Google's cloud with, whatever
// its name: each project names the file for itself. It is a service account's key
// (https://google.aip.dev/auth/4112) or a user's refresh token (https://google.aip.dev/auth/4113).
// Examples, in which the key is none, are not meant.
func isLogin(name string, content []byte) bool {
	if len(content) > maxLoginFile || !strings.HasSuffix(strings.ToLower(name), ".json") {
		return false
	}
	if !bytes.Contains(content, []byte("service_account")) && !bytes.Contains(content, []byte("authorized_user")) {
		return false
	}
	var doc struct {
		Type         string `json:"type"`
		PrivateKey   string `json:"private_key"`
		RefreshToken string `json:"refresh_token"`
		ClientSecret string `json:"client_secret"`
	}
	if json.Unmarshal(content, &doc) != nil {
		return false
	}
	switch doc.Type {
	case "service_account":
		key, _ := pem.Decode([]byte(doc.PrivateKey))
		return key != nil && len(key.Bytes) > 0
	case "authorized_user":
		return doc.RefreshToken != "" && doc.ClientSecret != ""
	}
	return false
}
