package opencode

import (
	"testing"

	"github.com/umbra-vcs/umbra/sessions/sessionstest"
)

func TestHeadless(t *testing.T) {
	sessionstest.TestHeadless(t, Adapter{}, sessionstest.HeadlessCommands{
		ID: "ses_0123456789abcdefABCDEFGHIJ",
		Resumed: map[string]string{
			"opencode":                               "opencode|run|--session|ID|--|-v|is|wrong",
			"opencode|--mini|--port|1|--prompt|go|.": "opencode|run|--session|ID|--port|1|--|-v|is|wrong",
			"opencode|run|--agent|build|go":          "opencode|run|--session|ID|--agent|build|--|-v|is|wrong",
		},
		Modelled: map[string]string{
			"opencode":               "opencode|--model|new",
			"opencode|run|-m|old|go": "opencode|--model|new|--|run|go",
		},
	})
}
