package pi

import (
	_ "embed"
	"path/filepath"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/hooks"
)

//go:embed extension.js
var extensionText []byte

const extensionName = "umbra.js"

// extension is Umbra's extension for pi.
func extension() hooks.Script {
	return hooks.Script{Text: extensionText, First: "// Umbra's extension for pi.", Last: "// The end of Umbra's extension "}
}

// HookFile is the extension's file. pi runs a project's extension once its user trusts the
// project. A project has no other place for an extension, such as one that is not shared.
func (a Adapter) HookFile(env sessions.Environ, scope sessions.Scope, projectDir string) string {
	if scope == sessions.ScopeUser {
		return filepath.Join(a.Root(env), "extensions", extensionName)
	}
	return filepath.Join(projectDir, ".pi", "extensions", extensionName)
}

// InstallHooks makes the extension. Text that its user has added around it stays.
func (Adapter) InstallHooks(settings []byte, hookCommand string) ([]byte, error) {
	return extension().Install(settings, hookCommand)
}

// UninstallHooks takes the extension out of its file. A file that is not Umbra's stays as it
// is, and so does text that its user has added.
func (Adapter) UninstallHooks(settings []byte) (out []byte, remove bool, err error) {
	return extension().Uninstall(settings)
}

// HookCommands returns the command that the extension calls.
func (Adapter) HookCommands(settings []byte) (commands, missing []string, err error) {
	return extension().Commands(settings)
}

// InstallServer implements sessions.Serving.
func (Adapter) InstallServer(settings []byte, command []string) (out []byte, theirs bool, err error) {
	return extension().InstallServer(settings, command)
}

// UninstallServer implements sessions.Serving.
func (Adapter) UninstallServer(settings []byte) ([]byte, error) {
	return extension().UninstallServer(settings)
}
