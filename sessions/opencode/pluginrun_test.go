package opencode

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// played plays what OpenCode does to the plugin, in node: script says it with ask, tell
// and idle, about the session ses_1. It returns what the hook was told, and the session's
// file as it is read.
func played(t *testing.T, script string) (told []string, file []byte) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	dir := t.TempDir()
	plugin, err := plugin().For(`cat >> "` + dir + `/told"; echo >> "` + dir + `/told"; echo {}`)
	if err != nil {
		t.Fatal(err)
	}
	const player = `
import { readFileSync } from "node:fs"
import { Umbra } from "./umbra.mjs"
const heard = () => readFileSync("told", "utf8")
const info = { id: "ses_1", directory: "/w", title: "t", time: { created: 1, updated: 1 } }
const answer = async (data) => ({ data })
const session = { get: () => answer(info), messages: () => answer(globalThis.history ?? []), children: () => answer([]) }
const open = () => Umbra({ client: { session }, directory: "/w" })
const sessionID = "ses_1"
const event = (type, properties = {}) => plugin.event({ event: { type, properties: { sessionID, ...properties } } })
const prompt = async (id, text) => {
  const message = { id, role: "user", sessionID, time: { created: 2 } }
  const part = { id: "prt_" + id, messageID: id, sessionID, type: "text", text }
  await plugin["chat.message"]({ sessionID }, { message, parts: [part] })
  event("message.updated", { info: message })
  event("message.part.updated", { part })
}
const answers = (id, parentID, more = {}) => event("message.updated", { info: { id, parentID, role: "assistant", sessionID, time: { created: 3 }, ...more } })
let plugin = await open()
SCRIPT
await plugin.dispose()
`
	for name, text := range map[string]string{"umbra.mjs": string(plugin), "play.mjs": strings.Replace(player, "SCRIPT", script, 1)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(node, "play.mjs")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "XDG_DATA_HOME="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	heard, err := os.ReadFile(filepath.Join(dir, "told"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(heard)) {
		var e struct {
			Name   string `json:"hook_event_name"`
			Prompt string `json:"prompt"`
			ID     string `json:"prompt_id"`
			Call   string `json:"tool_use_id"`
			Error  string `json:"error"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		told = append(told, strings.Join(strings.Fields(strings.Join([]string{e.Name, e.Prompt, e.ID, e.Call, e.Error}, " ")), " "))
	}
	if file, err = os.ReadFile(filepath.Join(dir, "opencode", "umbra", "ses_1.jsonl")); err != nil {
		t.Fatal(err)
	}
	return told, file
}

// TestPluginTells: in the order of OpenCode 1.18.33, what it emits in a turn, and what
// the plugin makes of it.
func TestPluginTells(t *testing.T) {
	for name, tt := range map[string]struct {
		script string
		told   []string
		turns  int
	}{
		"a prompt typed ahead": {`
await prompt("msg_1", "one")
answers("msg_2", "msg_1")
await prompt("msg_3", "two")
answers("msg_2", "msg_1", { time: { created: 3, completed: 4 }, finish: "tool-calls" })
answers("msg_4", "msg_3", { time: { created: 5, completed: 6 }, finish: "stop" })
event("session.idle")
await prompt("msg_5", "three")
`, []string{"SessionStart", "UserPromptSubmit one msg_1", "UserPromptSubmit two msg_1", "Stop", "UserPromptSubmit three msg_5", "SessionEnd"}, 2},
		"a refusal": {`
const error = { name: "APIError", data: { message: "no such model" } }
await prompt("msg_1", "one")
answers("msg_2", "msg_1")
event("session.error", { error })
event("session.status", { status: { type: "idle" } })
event("session.idle")
answers("msg_2", "msg_1", { time: { created: 3, completed: 4 }, error })
event("session.idle")
await prompt("msg_3", "two")
event("session.idle")
`, []string{"SessionStart", "UserPromptSubmit one msg_1", "StopFailure no such model", "UserPromptSubmit two msg_3", "Stop", "SessionEnd"}, 2},
		"stopped by its user": {`
const error = { name: "MessageAbortedError", data: { message: "aborted" } }
await prompt("msg_1", "one")
answers("msg_2", "msg_1")
event("session.error", { error })
event("session.idle")
answers("msg_2", "msg_1", { time: { created: 3, completed: 4 }, error })
event("session.idle")
`, []string{"SessionStart", "UserPromptSubmit one msg_1", "Stop", "SessionEnd"}, 1},
		"stopped in a call": {`
const error = { name: "MessageAbortedError", data: { message: "aborted" } }
const call = (status) => event("message.part.updated", { part: { id: "prt_2", messageID: "msg_2", sessionID, type: "tool", tool: "bash", callID: "call_1", state: { status } } })
await prompt("msg_1", "one")
answers("msg_2", "msg_1")
call("running")
event("session.error", { error })
event("session.idle")
await plugin["tool.execute.after"]({ tool: "bash", sessionID, callID: "call_1", args: {} })
call("completed")
answers("msg_2", "msg_1", { time: { created: 3, completed: 4 }, error })
event("session.idle")
event("session.idle")
`, []string{"SessionStart", "UserPromptSubmit one msg_1", "PostToolUse call_1", "Stop", "SessionEnd"}, 1},
		"idle with an answer that is never whole": {`
await prompt("msg_1", "one")
answers("msg_2", "msg_1")
event("session.idle")
await prompt("msg_3", "two")
answers("msg_4", "msg_3")
event("session.idle")
for (let n = 0; n < 1000 && heard().match(/"Stop"/g).length < 2; n++) await new Promise((wake) => setTimeout(wake, 10))
await plugin["tool.execute.after"]({ tool: "bash", sessionID, callID: "call_1", args: {} })
await prompt("msg_5", "three")
answers("msg_6", "msg_5")
event("session.idle")
`, []string{
			"SessionStart", "UserPromptSubmit one msg_1", "Stop", "UserPromptSubmit two msg_3", "Stop",
			"PostToolUse call_1", "UserPromptSubmit three msg_5", "Stop", "SessionEnd",
		}, 3},
		"questions": {`
await prompt("msg_1", "one")
event("permission.asked", { id: "per_1", permission: "bash", patterns: ["ls"], metadata: { command: "ls" }, tool: { messageID: "msg_2", callID: "call_1" } })
event("question.asked", { id: "que_1", questions: [{ question: "Which way?" }], tool: { messageID: "msg_2", callID: "call_2" } })
event("permission.asked", { id: "per_2", permission: "doom_loop", patterns: ["ls"], metadata: {} })
event("question.replied", { requestID: "que_1", answers: [["left"]] })
event("permission.replied", { requestID: "per_1", reply: "once" })
event("permission.replied", { requestID: "per_2", reply: "reject" })
`, []string{
			"SessionStart", "UserPromptSubmit one msg_1", "PermissionRequest call_1", "PermissionRequest call_2", "PermissionRequest per_2",
			"PermissionReplied call_2", "PermissionReplied call_1", "PermissionReplied per_2", "SessionEnd",
		}, 1},
		"killed in a turn": {`
await prompt("msg_1", "one")
answers("msg_2", "msg_1")
await plugin.dispose()
globalThis.history = [
  { info: { id: "msg_1", role: "user", sessionID, time: { created: 2 } }, parts: [{ id: "prt_msg_1", messageID: "msg_1", sessionID, type: "text", text: "one" }] },
  { info: { id: "msg_2", parentID: "msg_1", role: "assistant", sessionID, time: { created: 3 } }, parts: [] },
]
plugin = await open()
await prompt("msg_3", "two")
`, []string{"SessionStart", "UserPromptSubmit one msg_1", "SessionEnd", "SessionStart", "UserPromptSubmit two msg_3", "SessionEnd"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told, file := played(t, tt.script)
			if !reflect.DeepEqual(told, tt.told) {
				t.Errorf("it tells\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(tt.told, "\n"))
			}
			if c := read(t, file); len(c.Turns) != tt.turns || c.Bad > 0 {
				t.Errorf("its file has %d turns, %d bad lines, want %d\n%s", len(c.Turns), c.Bad, tt.turns, file)
			}
		})
	}
}
