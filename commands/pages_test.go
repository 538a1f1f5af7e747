package commands

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/commands/call"
)

// TestCommandsOfPages: what a page says that one can type, umbra takes: the
// command is there, and so are its flags. What the commands do, other tests hold.
func TestCommandsOfPages(t *testing.T) {
	t.Parallel()
	var pages []string
	for _, pattern := range []string{"../*.md", "../docs/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	typed := regexp.MustCompile("`umbra ([a-z][^`]*)`")
	count := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range typed.FindAllStringSubmatch(string(text), -1) {
			if m[1] == "segment 1" {
				continue // how a file on disk begins
			}
			count++
			if why := untypable(m[1]); why != "" {
				t.Errorf("%s: umbra %s: %s", page, m[1], why)
			}
		}
	}
	if count < 100 {
		t.Errorf("only %d commands found", count)
	}
}

// untypable says why a command line can't be typed. Where a page shows the beginning of
// one, the arguments that it lacks are not missed. What stands in quotes is one argument.
func untypable(line string) string {
	line = regexp.MustCompile(`"[^"]*"`).ReplaceAllString(line, "TEXT")
	line = strings.NewReplacer("[", "", "]", "", "…", "", "'", "", `"`, "").Replace(line)
	words := strings.Fields(strings.SplitN(line, "|", 2)[0])
	var globals call.Globals
	_, err := arrange(allVerbs(), globals.Flags(), words)
	if err == nil || strings.Contains(err.Error(), "missing") || strings.Contains(err.Error(), "needs") {
		return ""
	}
	return err.Error()
}
