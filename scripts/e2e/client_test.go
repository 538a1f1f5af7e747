// Package e2e runs the real agents, from the npm registry, against the stand-in
// model server. Its tests assert from the server's log what the model was sent;
// they reach Umbra, where they do, by its command line only.
package e2e

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/patience"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// TestClaude talks three turns, one process each, and proves that each went on
// with the history of the ones before, tool call and result included.
func TestClaude(t *testing.T) {
	t.Parallel()
	for _, version := range []string{clients.ClaudeCurrent, clients.ClaudeMiddle} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			client := clients.Claude(t, version)
			server := standin.New(t)
			home, workspace := t.TempDir(), t.TempDir()
			if err := client.Prepare(home, server.URL, workspace); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), patience.Of(2*time.Minute))
			defer cancel()
			env := client.Env(home, server.URL)
			say := func(prompt, want string, args ...string) clients.Result {
				t.Helper()
				result, err := client.Print(ctx, workspace, env, prompt, args...)
				if err != nil {
					t.Fatal(err)
				}
				if result.Text != want || result.IsError {
					t.Fatalf("%q was answered %+v, want %q", prompt, result, want)
				}
				return result
			}

			const created = createdIn + "notes.txt"
			const one = "first PLATYPUS [[say hello]]"
			const two = `second [[write path=notes.txt content="two\nlines\n"]] [[bash cmd="cat notes.txt"]] [[say written]]`
			const three = "third [[say bye]]"
			session := say(one, "hello").SessionID
			say(two, "written", "--resume", session)
			data, err := os.ReadFile(filepath.Join(workspace, "notes.txt"))
			if err != nil || string(data) != "two\nlines\n" {
				t.Fatalf("notes.txt holds %q, %v", data, err)
			}
			say(three, "bye", "--resume", session)

			request, ok := server.Last(standin.Prompted("third"))
			if !ok {
				t.Fatal("no request with the third prompt")
			}
			history := standin.History(request)
			var got []string
			for _, line := range standin.Lines(history) {
				// The versions word the result of a write differently after its name.
				if strings.HasPrefix(line, created) {
					line = created
				}
				got = append(got, line)
			}
			want := []string{
				"user: " + one, "assistant: hello",
				"user: " + two,
				`call Write {"content":"two\nlines\n","file_path":"notes.txt"}`, created,
				`call Bash {"command":"cat notes.txt"}`, "result: two\nlines",
				"assistant: written",
				"user: " + three,
			}
			if !slices.Equal(got, want) {
				t.Errorf("the model was sent\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if request.Session != session {
				t.Errorf("the third turn ran in session %q, the first in %q", request.Session, session)
			}
		})
	}
}
