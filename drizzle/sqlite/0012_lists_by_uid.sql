CREATE INDEX `providers_project` ON `providers` (`project_id`,`uid`);--> statement-breakpoint
CREATE INDEX `tools_project` ON `tools` (`project_id`,`uid`);