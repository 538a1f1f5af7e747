package history

import (
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/missions"
)

func Cat() *call.Verb {
	var displaced bool
	return &call.Verb{
		Name: "cat", Args: "MOMENT PATH", Min: 1, Max: 2, Short: "print a file as it was, byte for byte",
		Long: "MOMENT:PATH, as Git has it, is the same.",
		Flags: []flags.Flag{
			flags.Bool("displaced", "what another program wrote there while a restore ran", &displaced),
		},
		Run: func(c *call.Call) error { return runCat(c, displaced) },
	}
}

func runCat(c *call.Call, displaced bool) error {
	if c.JSON {
		return missions.Errorf(missions.KindUsage, "leave out --json", "umbra cat prints the file's own bytes, which are no JSON")
	}
	moment, path := c.Arg(0), c.Arg(1)
	if len(c.Arguments) == 1 {
		var isBoth bool
		if moment, path, isBoth = cutPath(moment); !isBoth {
			return missions.Errorf(missions.KindUsage, "usage: umbra cat MOMENT PATH", "umbra cat needs PATH")
		}
	}
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	content, err := svc.Cat(ctx, missions.CatRequest{Caller: caller, Moment: moment, Path: path, Displaced: displaced})
	if err != nil {
		return err
	}
	c.EndProgress()
	_, err = c.Stdout.Write(content)
	return err
}

// cutPath cuts MOMENT:PATH, where a moment may be a time in braces, with colons of its own.
func cutPath(word string) (moment, path string, found bool) {
	time := strings.IndexByte(word, '}') + 1
	at := strings.IndexByte(word[time:], ':')
	if at < 0 {
		return word, "", false
	}
	return word[:time+at], word[time+at+1:], true
}
