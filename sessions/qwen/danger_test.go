package qwen

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

const (
	oldID = "11111111-1111-4111-8111-111111111111"
	newID = "22222222-2222-4222-8222-222222222222"
)

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// said is a line of a session in /w.
func said(id, parent, rest string) string {
	if parent = `"` + parent + `"`; parent == `""` {
		parent = "null"
	}
	return fmt.Sprintf(`{"uuid":%q,"parentUuid":%s,"sessionId":%q,"cwd":"/w","version":"0.24.4",%s}`, id, parent, oldID, rest) + "\n"
}

func prompt(text string) string {
	return fmt.Sprintf(`"type":"user","message":{"role":"user","parts":[{"text":%q}]}`, text)
}

func answer(text string) string {
	return fmt.Sprintf(`"type":"assistant","message":{"role":"model","parts":[{"text":%q}]}`, text)
}

func calling(id string) string {
	return fmt.Sprintf(`"type":"assistant","message":{"role":"model","parts":[{"functionCall":{"id":%q,"name":"agent","args":{"prompt":"look"}}}]}`, id)
}

func result(id string) string {
	return fmt.Sprintf(`"type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"id":%q,"name":"agent","response":{"output":"ok"}}}]},"toolCallResult":{"status":"success"}`, id)
}

func fork() sessions.Rewrite {
	return sessions.Rewrite{OldID: oldID, NewID: newID, OldCwd: "/w", NewCwd: "/f", OldRoot: "/w", NewRoot: "/f"}
}

func rewritten(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	if err := (Adapter{}).Rewrite(&out, strings.NewReader(text), int64(len(text)), fork()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestForkIsElsewhere: no line of a copy says the source's id or workspace, by which the
// client would not find it, or take it for the source.
func TestForkIsElsewhere(t *testing.T) {
	got := rewritten(t, said("a", "", prompt("hi"))+said("b", "a", `"type":"system","subtype":"ui_telemetry","systemPayload":{"uiEvent":{"prompt_id":"`+oldID+promptMark+`0"}}`)+
		said("c", "b", answer("/h/.qwen/projects/-w/chats/"+oldID+".jsonl and /w/x")))
	if strings.Contains(got, oldID) || strings.Contains(got, `"/w`) || !strings.Contains(got, "/h/.qwen/projects/-f/chats/"+newID+".jsonl and /f/x") {
		t.Errorf("the copy is\n%s", got)
	}
	if n := strings.Count(got, `"sessionId":"`+newID+`","cwd":"/f"`); n != 3 {
		t.Errorf("%d of 3 lines say whose they are:\n%s", n, got)
	}
	if got := rewritten(t, said("a", "", prompt("of /other/"+oldID))); !strings.Contains(got, "of /other/"+oldID) {
		t.Errorf("another file that has the id in its path has become\n%s", got)
	}
}

// TestForkIsWhole: a copy has no line without an end, to which the client would glue its
// next one, and lose all that was said before.
func TestForkIsWhole(t *testing.T) {
	whole := said("a", "", prompt("hi")) + said("b", "a", answer("well"))
	for _, torn := range []string{`{"uuid":"c","parentUuid":"b","ses`, said("c", "b", prompt("more"))[:40]} {
		if got, want := rewritten(t, whole+torn), rewritten(t, whole); got != want {
			t.Errorf("with a torn line the copy is\n%s\nwant\n%s", got, want)
		}
	}
	if got := rewritten(t, whole); !strings.HasSuffix(got, "}\n") {
		t.Errorf("the copy ends without an end of its line: %q", got)
	}
}

// TestForkHasNoCopiesOfFiles: what /rewind puts back, a session's memory, and what an open
// session says of itself, which has a secret, are not beside a copy.
func TestForkHasNoCopiesOfFiles(t *testing.T) {
	env := sessions.Environ{Home: t.TempDir()}
	path := (Adapter{}).Path(env, "/w", oldID)
	write(t, path, said("a", "", prompt("hi")))
	project := filepath.Dir(filepath.Dir(path))
	agents := filepath.Join(project, agentsDir, oldID)
	write(t, filepath.Join(agents, "agent-one.jsonl"), "{}\n")
	write(t, filepath.Join(agents, "agent-one.meta.json"), "{}")
	for _, not := range []string{
		filepath.Join(agents, "other.txt"), filepath.Join(project, agentsDir, newID, "agent-two.jsonl"), filepath.Join(project, "chats", oldID+".runtime.json"),
		filepath.Join(project, "memory", "x"), filepath.Join(project, "extract-cursor.json"), filepath.Join(env.Home, ".qwen/sessions/1.json"),
		filepath.Join(env.Home, ".qwen/file-history", oldID, "0123456789abcdef@v1"),
	} {
		write(t, not, "{}")
	}
	s, err := Adapter{}.Open(path)
	if err != nil || s.ID != oldID || s.Cwd != "/w" {
		t.Fatalf("opened %+v, %v", s, err)
	}
	sides, err := Adapter{}.Sides(env, s)
	var names []string
	for _, side := range sides {
		names = append(names, side.Name)
	}
	if want := []string{"subagents/agent-one.jsonl", "subagents/agent-one.meta.json"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("beside it are %q, %v; want %q", names, err, want)
	}
}

// TestForkHasNoLaterSubagents: of subagents, a copy has those alone that were begun before
// the cut, and those that these began; rewritten, and for their owner's eyes.
func TestForkHasNoLaterSubagents(t *testing.T) {
	talk := said("a", "", prompt("hi")) + said("b", "a", calling("call_1")) + said("c", "b", result("call_1")) + said("d", "c", answer("well"))
	later := talk + said("e", "d", prompt("more")) + said("f", "e", calling("call_2")) + said("g", "f", result("call_2")) + said("h", "g", answer("done"))
	kept := map[string]string{
		"subagents/agent-one.jsonl":       said("x", "", answer("in /w")),
		"subagents/agent-below.meta.json": `{"agentId":"below","parentSessionId":"` + oldID + `","toolUseId":"call_9","parentAgentId":"one"}`, "subagents/agent-below.jsonl": "",
		"subagents/agent-one.meta.json": `{"agentId":"one","parentSessionId":"` + oldID + `","toolUseId":"call_1","parentAgentId":null}`,
		"subagents/agent-two.meta.json": `{"agentId":"two","parentSessionId":"` + oldID + `","toolUseId":"call_2","parentAgentId":null}`, "subagents/agent-two.jsonl": "",
		"subagents/agent-noted-nowhere.jsonl": "",
	}
	var names []string
	for name := range kept {
		names = append(names, name)
	}
	slices.Sort(names)
	open := func(name string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(kept[name])), nil }
	of := func(text string) []string {
		t.Helper()
		sides, err := Adapter{}.SidesOf(strings.NewReader(text), names, open)
		if err != nil {
			t.Fatal(err)
		}
		return sides
	}
	cut := of(talk)
	if want := []string{"subagents/agent-below.jsonl", "subagents/agent-below.meta.json", "subagents/agent-one.jsonl", "subagents/agent-one.meta.json"}; !slices.Equal(cut, want) {
		t.Errorf("cut before the second, there are %q, want %q", cut, want)
	}
	if got := of(later); len(got) != 6 {
		t.Errorf("of all that was said there are %q", got)
	}
	files, err := Adapter{}.PlaceSides(sessions.Environ{Home: "/h"}, cut, open, fork())
	if err != nil || len(files) != 4 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		var out bytes.Buffer
		if err := f.Write(&out); err != nil {
			t.Fatal(err)
		}
		if text := out.String(); f.Mode != 0o600 || filepath.Dir(f.Path) != "/h/.qwen/projects/-f/subagents/"+newID || strings.Contains(text, oldID) || strings.Contains(text, "/w") {
			t.Errorf("%s (%o) has\n%s", f.Path, f.Mode, text)
		}
	}
	if _, err := (Adapter{}).PlaceSides(sessions.Environ{Home: "/h"}, []string{"subagents/../x.jsonl"}, open, fork()); err == nil {
		t.Error("a file outside its place is placed")
	}
}

// TestForkStealsNoContinue: qwen --continue takes the newest session of the directory it is
// started in, and a fork's is in no other's.
func TestForkStealsNoContinue(t *testing.T) {
	env := sessions.Environ{Home: "/h"}
	if source, copy := (Adapter{}).Path(env, "/w/é🙂", oldID), (Adapter{}).Path(env, "/w/forks/é🙂", newID); source != "/h/.qwen/projects/-w----/chats/"+oldID+".jsonl" ||
		filepath.Dir(source) == filepath.Dir(copy) {
		t.Errorf("the source is %s, the fork %s", source, copy)
	}
}
