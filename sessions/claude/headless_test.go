package claude

import (
	"testing"

	"github.com/umbra-vcs/umbra/sessions/sessionstest"
)

func TestHeadless(t *testing.T) {
	sessionstest.TestHeadless(t, Adapter{}, sessionstest.HeadlessCommands{
		ID: idB,
		Resumed: map[string]string{
			"claude":                    "claude|--resume|ID|--print|--|-v is wrong",
			"claude|-p|--model|opus|go": "claude|--resume|ID|-p|--model|opus|--|-v is wrong",
			"claude|--dangerously-skip-permissions|--add-dir|a|--|go": "claude|--resume|ID|--print|--dangerously-skip-permissions|--add-dir|a|--|-v is wrong",
		},
		Modelled: map[string]string{
			"claude":                            "claude|--model|new",
			"claude|--add-dir|a|--model=old|go": "claude|--model|new|--add-dir|a|--|go",
		},
	})
}
