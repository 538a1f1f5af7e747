package copilot

import (
	"os"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

// TestSubagent reads what a subagent was recorded to say. It is in its session's file, and
// none of the session's turn.
func TestSubagent(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/1.0.102/subagent.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	read := Adapter{}.Follow()
	read.(sessions.OutputKeeping).KeepOutput()
	read.Feed(text)
	c := read.Conversation()
	var all []sessions.Subagent
	for _, turn := range c.Turns {
		all = append(all, turn.Subagents...)
		for _, text := range turn.Texts {
			if text.Text == "sub finished" {
				t.Errorf("the turn says %+v", text)
			}
		}
	}
	if len(all) != 1 || all[0].ID != "ea809bb0-2b65-4097-b964-c95581a0df7a" || len(all[0].Texts) != 2 || len(all[0].Tools) != 1 {
		t.Fatalf("the subagents are %+v", all)
	}
	asked, answered, call := all[0].Texts[0], all[0].Texts[1], all[0].Tools[0]
	if asked.Role != "user" || asked.Text[:10] != "sub prompt" || answered.Role != "assistant" || answered.Text != "sub finished" || asked.Stop >= call.Stop || call.Stop >= answered.Stop {
		t.Errorf("it says %+v, calls %+v", all[0].Texts, call)
	}
	if call.Name != "create" || !call.Done || call.Failed || call.Output == "" {
		t.Errorf("the call is %+v", call)
	}
}
