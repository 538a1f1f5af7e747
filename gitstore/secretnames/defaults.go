package secretnames

import "slices"

// Defaults are the patterns of files that hold credentials and hardly anything else. Of what
// holds them beside other things, such as .gitconfig or database.yml, none is here.
//
// Each group names the documentation of the programs that write the files. What they
// have in common was compared with
// https://github.com/michenriksen/gitrob/blob/master/core/signatures.go and
// https://github.com/github/gitignore.
func Defaults() []string {
	return slices.Concat(environmentSecrets, keySecrets, accountSecrets, cloudSecrets, packageSecrets, programSecrets)
}

// keyFiles is the pattern of private keys that presentations share.
const keyFiles = "*.key"

var (
	// environmentSecrets are files of variables:
	// https://github.com/motdotla/dotenv, https://direnv.net,
	// https://developers.cloudflare.com/workers/configuration/secrets (.dev.vars),
	// https://docs.streamlit.io/develop/concepts/connections/secrets-management (secrets.toml),
	// https://guides.rubyonrails.org/v5.1/security.html (secrets.yml),
	// https://learn.microsoft.com/aspnet/core/security/app-secrets (secrets.json).
	environmentSecrets = []string{
		".env.*", ".env-*", ".env_*", "*.env", ".envrc", ".envrc.*", ".dev.vars", ".dev.vars.*",
		"!.env*.example", "!.env*.sample", "!.env*.template", "!.env*.dist", "!.dev.vars.example",
		"!.env?example", "!.env?sample", "!.env?template", "!.env?dist",
		"!example.env", "!sample.env", "!template.env", "!*.example.env", "!*.sample.env", "!*.template.env",
		"secrets.toml", "secrets.yml", "secrets.yaml", "secrets.json", "!templates/secrets.yaml", "!templates/secrets.yml",
	}
	// keySecrets are private keys, and files of keys:
	// https://www.rfc-editor.org/rfc/rfc7468, https://www.rfc-editor.org/rfc/rfc7292,
	// https://man.openbsd.org/ssh#FILES, https://www.gnupg.org/documentation/manuals/gnupg (private-keys-v1.d),
	// https://keepass.info/help/base/repair.html (kdbx), https://developer.apple.com/help/account/keys (p8),
	// https://docs.flutter.dev/deployment/android (key.properties), https://getsops.io/docs (keys.txt).
	keySecrets = []string{
		"id_rsa_*", "id_dsa_*", "id_ecdsa_*", "id_ed25519_*", "!id_*.*",
		"*_rsa", "*_dsa", "*_ecdsa", "*_ed25519", "id_ecdsa_sk", "id_ed25519_sk", "deploy_key", "deploy-key",
		".ssh/*", "!.ssh/*.pub", "!.ssh/config", "!.ssh/known_hosts*", "!.ssh/authorized_keys*",
		"*.pem", keyFiles, "*.p12", "*.pfx", "*.pkcs12", "*.p8", "*.jks", "*.keystore", "*.ppk", "*.kdb", "*.kdbx",
		"private-keys-v1.d/*", "secring.gpg", "*.keychain", "*.keychain-db", "*.ovpn",
		"key.properties", "keystore.properties", "age/keys.txt",
	}
	// accountSecrets are what a program logs in with:
	// https://www.gnu.org/software/inetutils/manual/html_node/The-_002enetrc-file.html,
	// https://www.postgresql.org/docs/current/libpq-pgpass.html,
	// https://dev.mysql.com/doc/refman/en/option-files.html, https://git-scm.com/docs/git-credential-store,
	// https://httpd.apache.org/docs/current/programs/htpasswd.html, https://marlam.de/msmtp,
	// https://cli.github.com/manual/gh_auth_login, https://gitlab.com/gitlab-org/cli (glab-cli),
	// https://developer.wordpress.org/apis/wp-config-php.
	accountSecrets = []string{
		".netrc", "_netrc", ".authinfo", ".pgpass", "pgpass.conf", ".my.cnf", ".mylogin.cnf", ".git-credentials", "git/credentials",
		".htpasswd", ".msmtprc", ".esmtprc", ".fetchmailrc", "sftp-config.json", ".ftpconfig", ".vscode/sftp.json",
		"gh/hosts.yml", ".config/hub", "glab-cli/config.yml", "github-copilot/hosts.json", "github-copilot/apps.json",
		"wp-config.php", "credentials.json", ".credentials.json", "oauth_creds.json", "/auth.json", ".codex/auth.json", "opencode/auth.json",
	}
	// cloudSecrets are of what runs elsewhere:
	// https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-files.html, https://s3tools.org/kb/item14.htm,
	// https://cloud.google.com/docs/authentication/application-default-credentials,
	// https://cloud.google.com/iam/docs/keys-create-delete (service accounts),
	// https://firebase.google.com/docs/admin/setup (firebase-adminsdk),
	// https://learn.microsoft.com/azure/azure-functions/functions-develop-local (local.settings.json),
	// https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig,
	// https://docs.docker.com/reference/cli/docker/login,
	// https://developer.hashicorp.com/terraform/language/state/sensitive-data, https://developer.hashicorp.com/vault/docs/commands,
	// https://docs.ansible.com/ansible/latest/vault_guide, https://rclone.org/docs,
	// https://docs.digitalocean.com/reference/doctl, https://docs.databricks.com/dev-tools/auth (.databrickscfg),
	// https://github.com/containers/image/blob/main/docs/containers-auth.json.5.md,
	// https://docs.snowflake.com/en/user-guide/snowsql-config, https://github.com/aliyun/aliyun-cli,
	// https://github.com/hetznercloud/cli.
	cloudSecrets = []string{
		".aws/credentials", ".s3cfg", ".boto", ".passwd-s3fs",
		"application_default_credentials.json", "gcloud/credentials.db", "gcloud/access_tokens.db", "client_secret*.json",
		"service-account*.json", "service_account*.json", "serviceaccount*.json", "*firebase-adminsdk*.json",
		"!service?account*.example.json", "!service?account*.schema.json", "!serviceaccount*.example.json",
		"local.settings.json", "azure/accesstokens.json", ".azure/accesstokens.json", ".azure/msal_token_cache.*",
		".kube/config", "kubeconfig", "kubeconfig.yml", "kubeconfig.yaml", "*.kubeconfig", ".docker/config.json", ".dockercfg", ".dockerconfigjson",
		"*.tfvars", "*.tfvars.json", "*.tfstate", "*.tfstate.*", ".terraformrc", "terraform.rc", "credentials.tfrc.json",
		"!example.tfvars", "!*.example.tfvars", "!sample.tfvars", "!*.sample.tfvars",
		".vault-token", ".vault_pass", ".vault_pass.txt", ".vault-password", "vault_pass.txt",
		"rclone.conf", "doctl/config.yaml", ".databrickscfg", ".snowflake/connections.toml", ".fly/config.yml", "com.vercel.cli/auth.json",
		".config/containers/auth.json", ".snowsql/config", ".aliyun/config.json", ".config/hcloud/cli.toml", ".config/netlify/config.json",
	}
	// packageSecrets are of those who publish packages:
	// https://docs.npmjs.com/cli/configuring-npm/npmrc, https://yarnpkg.com/configuration/yarnrc,
	// https://packaging.python.org/en/latest/specifications/pypirc,
	// https://doc.rust-lang.org/cargo/reference/config.html#credentials, https://guides.rubygems.org/publishing,
	// https://getcomposer.org/doc/articles/authentication-for-private-packages.md,
	// https://maven.apache.org/guides/mini/guide-encryption.html, https://docs.gradle.org/current/userguide/build_environment.html.
	packageSecrets = []string{
		".npmrc", ".yarnrc.yml", ".pypirc", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials",
		".composer/auth.json", "composer/auth.json", ".m2/settings.xml", "settings-security.xml", ".gradle/gradle.properties",
	}
	// programSecrets are of other programs:
	// https://docs.sentry.io/cli/configuration, https://ngrok.com/docs/agent/config,
	// https://www.kaggle.com/docs/api, https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables (token),
	// https://www.erlang.org/doc/system/distributed.html (.erlang.cookie), https://www.jenkins.io/doc/book/using/using-credentials,
	// https://docs.stripe.com/cli, https://circleci.com/docs/guides/toolkit/how-to-use-the-circleci-local-cli,
	// https://wiki.filezilla-project.org/Client_Configuration (sitemanager.xml).
	programSecrets = []string{
		".sentryclirc", "ngrok.yml", "kaggle.json", "huggingface/token", ".huggingface/token", ".erlang.cookie", "credentials.xml", "secret_token.rb",
		".config/stripe/config.toml", ".circleci/cli.yml", "filezilla.xml", "filezilla/sitemanager.xml", ".filezilla/sitemanager.xml",
		"filezilla/recentservers.xml", ".filezilla/recentservers.xml",
	}
)
