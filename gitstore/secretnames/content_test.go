package secretnames

import (
	"strings"
	"testing"
)

// TestLogins tries what is known by its content, and what is like it.
func TestLogins(t *testing.T) {
	t.Parallel()
	const key = `-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n`
	account := `{"type": "service_account", "private_key": "` + key + `"}`
	for name, content := range map[string]string{
		"prod-1a2b3c.json": account, "KEY.JSON": account,
		"adc.json": `{"client_secret": "x", "refresh_token": "y", "type": "authorized_user"}`,
	} {
		if !isLogin(name, []byte(content)) {
			t.Errorf("%s is not known: %s", name, content)
		}
	}
	for name, content := range map[string]string{
		"account.go": account, "empty.json": "", "cut.json": account[:len(account)-2],
		"example.json":  `{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\nYOUR_KEY\n-----END PRIVATE KEY-----\n"}`,
		"none.json":     `{"type": "service_account", "private_key": ""}`,
		"user.json":     `{"type": "authorized_user", "refresh_token": ""}`,
		"list.json":     "[" + account + "]",
		"talk.json":     `{"text": "a service_account has a private_key"}`,
		"other.json":    `{"type": "external_account", "private_key": "` + key + `"}`,
		"enormous.json": account + strings.Repeat(" ", maxLoginFile),
	} {
		if isLogin(name, []byte(content)) {
			t.Errorf("%s is taken for one", name)
		}
	}
}
