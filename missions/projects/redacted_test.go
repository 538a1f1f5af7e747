package projects

import (
	"strings"
	"testing"
)

// TestNameFromPrompt: no password of a prompt is in the name that becomes a branch's.
func TestNameFromPrompt(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(" the", 1000)
	for prompt, want := range map[string]string{
		"use db_password: hunter2x in config.yml":   "use-db-password-config",
		"connect with DB_PASSWORD: hunter2":         "connect-db-password",
		"the admin password for staging is hunter2": "admin-password-staging",
		"log in, the password there was once h2x":   "log-password-there-was",
		"fix go1 tests": "fix-go1-tests",
		"sshpass -p 'correct horse battery' ssh h":     "sshpass-p-ssh-h",
		"go" + long + " on with what is far behind":    "go-what-far-behind",
		"go" + long + long + " past what is looked at": "go",
	} {
		if got := NameFromPrompt(prompt); got != want {
			t.Errorf("%.50q is named %q, not %q", prompt, got, want)
		}
	}
}
