CREATE TABLE `tool_names` (
	`project_id` text NOT NULL,
	`identity` text NOT NULL,
	`source` text NOT NULL,
	`since` integer NOT NULL,
	`mac` text,
	PRIMARY KEY(`project_id`, `identity`),
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `tool_names_source` ON `tool_names` (`project_id`,`source`);--> statement-breakpoint
ALTER TABLE `toolsets` ADD `tool_sources` text;