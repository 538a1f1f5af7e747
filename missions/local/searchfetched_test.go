package local

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// resumes has an agent go on in a mission, which its caller names.
func (b *testBench) resumes(m missions.Mission, turn int) *talker {
	there := *b
	there.dir = m.Workspace
	c := &talker{testBench: &there, session: m.SessionID, transcript: m.SessionPath, turn: turn, mission: m.ID}
	c.hook("SessionStart", map[string]any{"source": "resume"})
	return c
}

// missionNamed is a mission of the bench's project.
func (b *testBench) missionNamed(name string) missions.Mission {
	b.Helper()
	m, err := b.local.Mission(context.Background(), missions.MissionRequest{Caller: b.caller(), Name: name})
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// promotedHome is a mission of whose three turns the second was said in a fork, and came home
// with it.
func promotedHome(t *testing.T) *remoteScene {
	t.Helper()
	c := startRemote(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first aardvark", "a.txt", "one\n")
	c.mission = c.named("login").ID
	f := c.forkTalker("other")
	f.takeTurn("second badger", "b.txt", "two\n")
	c.promoted("other")
	c.resumes(c.missionNamed("login"), 7).takeTurn("third camel", "c.txt", "three\n")
	return c
}

// TestSearchFetched: what was fetched is searched, its addresses can be typed in any project,
// and what a fork of it shares is found there. When the remote is forgotten the fork has it.
func TestSearchFetched(t *testing.T) {
	t.Parallel()
	c := promotedHome(t)
	c.push()
	b := &talker{testBench: c.other("work")}
	b.fetch()
	theirs := []string{"work/login@2.0 prompts: third camel", "work/other@2.0 prompts: second badger", "work/login@1.0 prompts: first aardvark"}
	prompts := func(query string) missions.SearchRequest {
		return missions.SearchRequest{Query: query, In: []missions.SearchPlace{missions.SearchPrompts}}
	}
	b.wantFoundAll("fetched", prompts(""), theirs)
	only := prompts("aardvark")
	only.Mission = "work/login"
	b.wantFoundBy(only, theirs[2])
	only.Mission = "work/other"
	b.wantFoundBy(only)
	b.wantFoundBy(missions.SearchRequest{Query: "three", In: []missions.SearchPlace{missions.SearchFiles}}, "work/login@2 files: three")

	made, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "work/login"})
	if err != nil {
		t.Fatal(err)
	}
	f := b.resumes(made.Missions[0], 9)
	f.takeTurn("fourth dingo", "d.txt", "four\n")
	b.wantFoundAll("forked", prompts(""), append([]string{"login@3.0 prompts: fourth dingo"}, theirs...))

	elsewhere := *b.testBench
	elsewhere.dir = t.TempDir()
	away := &talker{testBench: &elsewhere}
	away.wantFoundAll("elsewhere", prompts(""), append([]string{"login@3.0 prompts: fourth dingo"}, theirs...))

	// Nothing is left of the mission in which the second prompt was typed: it is found where it
	// came to, and what that had from before once.
	if _, err := b.local.RemoveRemote(context.Background(), missions.RemoteRequest{Caller: b.caller(), Name: "work"}); err != nil {
		t.Fatal(err)
	}
	b.wantFoundAll("forgotten", prompts(""), []string{
		"login@3.0 prompts: fourth dingo", "login@2.0 prompts: third camel", "login@1.2 prompts: second badger", "login@1.0 prompts: first aardvark",
	})

	// The remote is there again, with less: the fork alone has the third prompt.
	note := filepath.Join(b.project().Dir, "search", "indexed")
	noted, err := os.ReadFile(note)
	if err != nil {
		t.Fatal(err)
	}
	theirRef := "refs/umbra/work/agents/" + c.missionNamed("login").ID
	tip := strings.TrimSpace(c.remoteGit("rev-parse", theirRef))
	c.remoteGit("update-ref", theirRef, theirRef+"~3")
	c.addRemote(b.testBench, "work")
	b.fetch()
	b.wantFoundAll("less", prompts(""), []string{
		"login@3.0 prompts: fourth dingo", "login@2.0 prompts: third camel", theirs[1], theirs[2],
	})
	if now, err := os.ReadFile(note); err != nil || bytes.Equal(now, noted) {
		t.Errorf("what was fetched is not indexed: %v", err)
	}

	// One mission of two remotes is found once, or in the one that is asked for.
	c.remoteGit("update-ref", theirRef, tip)
	c.addRemote(b.testBench, "mirror")
	if _, err := b.local.Fetch(context.Background(), missions.FetchRequest{Caller: b.caller(), Remote: "mirror"}); err != nil {
		t.Fatal(err)
	}
	only.Mission = ""
	b.wantFoundBy(only, "mirror/login@1.0 prompts: first aardvark")
	for _, remote := range []string{"mirror", "work"} {
		only.Mission = remote + "/login"
		b.wantFoundBy(only, remote+"/login@1.0 prompts: first aardvark")
	}
	camel := prompts("camel")
	camel.Mission = "mirror/login"
	b.wantFoundBy(camel, "mirror/login@2.0 prompts: third camel")
	camel.Mission = "work/login" // which was not fetched since it has that again
	b.wantFoundBy(camel)
}

// wantFoundAll checks what is found of four prompts, with and without an index.
func (c *talker) wantFoundAll(when string, r missions.SearchRequest, want []string) {
	c.Helper()
	for _, indexed := range []bool{false, true} {
		if indexed {
			all, problems := c.local.AllProjects()
			if len(problems) > 0 {
				c.Fatal(problems)
			}
			for _, p := range all {
				if err := c.local.IndexWhenChanged(c.Context(), p); err != nil {
					c.Fatal(err)
				}
			}
		}
		var got []string
		for _, word := range strings.Fields("dingo camel badger aardvark") {
			r.Query = word
			got = append(got, c.found(r)...)
		}
		if !slices.Equal(got, want) {
			c.Errorf("%s, indexed %v:\n%s\nwant\n%s", when, indexed, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestSearchFetchedTwice: two that were fetched may have the same name.
func TestSearchFetchedTwice(t *testing.T) {
	t.Parallel()
	c := startRemote(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first aardvark", "a.txt", "one\n")
	c.named("login")
	c.push()
	o := &talker{testBench: c.other("office")}
	o.write("a.txt", "another\n")
	o = newTalker(o.testBench)
	o.switchTo(otherSession)
	o.hook("SessionStart", map[string]any{"source": "startup"})
	o.takeTurn("another aardvark", "a.txt", "two\n")
	o.named("login")
	o.push()
	b := &talker{testBench: c.other("work")}
	b.fetch()
	if got := b.found(missions.SearchRequest{Query: "aardvark"}); len(got) != 2 {
		t.Errorf("found %q", got)
	}
}
