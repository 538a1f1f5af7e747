package remotes

import (
	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/missions"
)

// Export is `umbra export`.
func Export() *call.Verb {
	var file, keyFile, newKeyFile string
	var allow flags.List
	var noSessions bool
	return &call.Verb{
		Name: "export", Args: "MOMENT…", Min: 1, Max: call.AnyNumber, Short: "write moments, with all before them, to one file",
		Long: `The file is a Git bundle with snapshots and conversations: for another machine, an archive or
a mail. umbra import FILE reads it there. What looks like a secret is listed first, as
by umbra push, and nothing is written. With --no-sessions the file has the files of each
snapshot alone, as umbra remote add --no-sessions says.

With --encrypt the file is encrypted, in the format of age (age-encryption.org): umbra import
FILE --key KEYFILE reads it, and so does age. --new-key makes a key first, in a file that is
not there yet: without it nobody reads what was written.`,
		Flags: []flags.Flag{
			flags.String("output", "write to `FILE`; an export that is there is replaced", &file, "o"),
			flags.Strings("allow", "write it although it looks like a secret: `RULE:FINGERPRINT`, as listed (repeatable)", &allow),
			flags.Bool("no-sessions", "leave conversations out", &noSessions),
			flags.String("encrypt", "encrypt the file with the key in `KEYFILE`", &keyFile),
			flags.String("new-key", "make a key in `KEYFILE`, and encrypt the file with it", &newKeyFile),
		},
		Run: func(c *call.Call) error {
			svc, caller, ctx, err := c.Asking()
			if err != nil {
				return err
			}
			r, err := svc.Export(ctx, missions.ExportRequest{
				Caller: caller, Moments: c.Arguments, File: file, Allow: allow.Value(), NoSessions: noSessions, KeyFile: keyFile, NewKeyFile: newKeyFile,
			})
			if err != nil {
				return err
			}
			return report(c, r, "written to", "nothing was written")
		},
	}
}

// ImportFile brings the missions of a file, for `umbra import`.
func ImportFile(c *call.Call, file, name, keyFile string) error {
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	r, err := svc.ImportFile(ctx, missions.ImportFileRequest{Caller: caller, File: file, Name: name, KeyFile: keyFile})
	if err != nil {
		return err
	}
	return report(c, r, "imported as", "it has nothing that is not here already")
}
