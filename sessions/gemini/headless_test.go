package gemini

import (
	"testing"

	"github.com/umbra-vcs/umbra/sessions/sessionstest"
)

func TestHeadless(t *testing.T) {
	sessionstest.TestHeadless(t, Adapter{}, sessionstest.HeadlessCommands{
		ID: "0b0e7d3c-52c6-4c3b-9c3e-0a5f5f0e4a11",
		Resumed: map[string]string{
			"gemini":          "gemini|--prompt=-v is wrong|--resume|ID",
			"gemini|-y|-i|go": "gemini|--prompt=-v is wrong|--resume|ID|-y",
			"gemini|-y|-p|go": "gemini|--prompt=-v is wrong|--resume|ID|-y",
		},
		Modelled: map[string]string{
			"gemini":           "gemini|--model|new",
			"gemini|-m|old|go": "gemini|--model|new|--|go",
		},
	})
}
