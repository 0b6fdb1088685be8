//! Starts `memory-bank serve lsp`, from PATH or from Zed's setting `lsp.memory-bank.binary`.

use zed_extension_api::settings::LspSettings;
use zed_extension_api::{self as zed, LanguageServerId, Result};

struct MemoryBank;

impl zed::Extension for MemoryBank {
    fn new() -> Self {
        Self
    }

    fn language_server_command(
        &mut self,
        id: &LanguageServerId,
        worktree: &zed::Worktree,
    ) -> Result<zed::Command> {
        let set = LspSettings::for_worktree(id.as_ref(), worktree)
            .ok()
            .and_then(|settings| settings.binary);
        let path = set.as_ref().and_then(|binary| binary.path.clone());
        let args = set.and_then(|binary| binary.arguments);
        Ok(zed::Command {
            command: path
                .or_else(|| worktree.which("memory-bank"))
                .ok_or("memory-bank is not on PATH: install it, or set lsp.memory-bank.binary.path")?,
            args: args.unwrap_or_else(|| vec!["serve".into(), "lsp".into()]),
            env: worktree.shell_env(),
        })
    }
}

zed::register_extension!(MemoryBank);
