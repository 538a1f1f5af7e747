package local

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// A secretFamily is a kind of secret: what one begins and ends with, and how much between is
// drawn by lot of which characters. None stands in this file.
type secretFamily struct {
	rule, begin, end string
	drawn            int
	of               string
}

const (
	letterOrDigit = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	base32Char    = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	hexDigit      = "0123456789abcdef"
)

var secretFamilies = []secretFamily{
	{rule: "anthropic-key", begin: "sk-ant-api03-", drawn: 40, of: letterOrDigit},
	{rule: "api-key", begin: "sk-proj-", drawn: 40, of: letterOrDigit},
	{rule: "aws-key", begin: "AKIA", drawn: 16, of: base32Char},
	{rule: "digitalocean-token", begin: "dop_v1_", drawn: 64, of: hexDigit},
	{rule: "github-token", begin: "ghp_", drawn: 36, of: letterOrDigit},
	{rule: "gitlab-token", begin: "glpat-", drawn: 20, of: letterOrDigit},
	{rule: "google-key", begin: "AIza", drawn: 35, of: letterOrDigit},
	{rule: "hugging-face-token", begin: "hf_", drawn: 34, of: letterOrDigit},
	{rule: "npm-token", begin: "npm_", drawn: 36, of: letterOrDigit},
	{rule: "slack-token", begin: "xoxb-", drawn: 40, of: letterOrDigit},
	{rule: "stripe-key", begin: "sk_live_", drawn: 24, of: letterOrDigit},
	{rule: "private-key", begin: "-----BEGIN PRIVATE KEY-----\n", drawn: 64, of: letterOrDigit, end: "\n-----END PRIVATE KEY-----"},
}

// planted is one of the family, another for each place.
func (f secretFamily) planted(place int) string {
	r := rand.New(rand.NewPCG(uint64(len(f.begin)), uint64(place)))
	var b strings.Builder
	b.WriteString(f.begin)
	for range f.drawn - 1 {
		b.WriteByte(f.of[r.IntN(len(f.of))])
	}
	b.WriteString("5" + f.end)
	return b.String()
}

// allows are the words that allow a secret. In a conversation it has no ends of lines.
func (f secretFamily) allows(secret, path string) string {
	if path == "conversation" {
		secret = strings.ReplaceAll(secret, "\n", `\n`)
	}
	sum := sha256.Sum256([]byte(f.rule + "\x00" + secret))
	return f.rule + ":" + hex.EncodeToString(sum[:8])
}

// TestEachFamilyOfSecretsDoesNotLeave: keys of each family are found in a file, in what a tool
// printed, in a command and in a prompt, before a push and before an export; and where they are
// none, they are allowed once. The message of a snapshot never has one.
func TestEachFamilyOfSecretsDoesNotLeave(t *testing.T) {
	t.Parallel()
	places := []struct{ name, path string }{
		{"a file", "keys.txt"}, {"what a tool printed", "conversation"}, {"a command", "conversation"}, {"a prompt", "conversation"},
	}
	for _, family := range secretFamilies {
		t.Run(family.rule, func(t *testing.T) {
			t.Parallel()
			c := startRemote(t)
			c.hook("SessionStart", map[string]any{"source": "startup"})
			c.takeTurn("please use "+family.planted(3)+" for it", "keys.txt", "first\nthe key: "+family.planted(0)+"\nlast\n")
			const call, result = "99999999-0000-4000-8000-000000000001", "99999999-0000-4000-8000-000000000002"
			c.say(
				c.line("assistant", call, c.parent, fmt.Sprintf(`[{"type":"tool_use","id":"toolu_9","name":"Bash","input":{"command":%q}}]`, "curl -H "+family.planted(2)+" https://example.com")),
				c.line("user", result, call, fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"toolu_9","content":%q}]`, "it is "+family.planted(1)+" there")),
			)
			c.parent = result
			c.takeTurn("go on", "b.txt", "two\n")
			c.snapshot("with " + family.planted(4) + " in it")

			file := c.keyFile() + ".umbra"
			export := missions.ExportRequest{Caller: c.caller(), Moments: []string{c.only().Name}, File: file}
			exported, err := c.local.Export(t.Context(), export)
			if err != nil {
				t.Fatal(err)
			}
			pushed := c.push()
			var allow []string
			for _, r := range []missions.Transfer{pushed, exported} {
				found := map[string]missions.SecretFinding{}
				for _, f := range r.Findings {
					found[f.Rule+":"+f.Fingerprint] = f
				}
				allow = nil
				for i, place := range places {
					words := family.allows(family.planted(i), place.path)
					if f := found[words]; f.Path != place.path {
						t.Errorf("in %s: found in %q, want %q", place.name, f.Path, place.path)
					}
					allow = append(allow, words)
				}
				if len(found) != len(places) || r.IsWhole() {
					t.Errorf("found %+v", r.Findings)
				}
			}
			if out := c.remoteGit("for-each-ref"); out != "" {
				t.Errorf("sent all the same: %s", out)
			}
			if r, err := c.local.Push(t.Context(), missions.PushRequest{Caller: c.caller(), Allow: allow}); err != nil || !r.IsWhole() {
				t.Errorf("what was allowed: %+v %v", r, err)
			}
			if left := c.heard(c.url); strings.Contains(left, family.planted(len(places))) || !strings.Contains(left, "[umbra-left-out:"+family.rule+"] in it") {
				t.Error("the message is not without it")
			}
			c.write("again.txt", family.planted(0))
			c.snapshot("again")
			if r := c.push(); !r.IsWhole() {
				t.Errorf("what was allowed once, again: %+v", r)
			}
			if r, err := c.local.Export(t.Context(), export); err != nil || !r.IsWhole() {
				t.Errorf("what was allowed, exported: %+v %v", r, err)
			}
		})
	}
}
