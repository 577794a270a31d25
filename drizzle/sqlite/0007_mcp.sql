CREATE TABLE `mcp_consents` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`user_id` text NOT NULL,
	`client_id` text NOT NULL,
	`redirect_uri` text NOT NULL,
	`client_name` text NOT NULL,
	`scopes` text NOT NULL,
	`grant_id` text,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `mcp_consents_identity` ON `mcp_consents` (`project_id`,`user_id`,`client_id`,`redirect_uri`);--> statement-breakpoint
CREATE TABLE `mcp_records` (
	`model` text NOT NULL,
	`id` text NOT NULL,
	`payload` text NOT NULL,
	`grant_id` text,
	`uid` text,
	`consumed_at` integer,
	`expires_at` integer,
	PRIMARY KEY(`model`, `id`)
);
--> statement-breakpoint
CREATE INDEX `mcp_records_grant` ON `mcp_records` (`grant_id`) WHERE grant_id is not null;--> statement-breakpoint
CREATE INDEX `mcp_records_uid` ON `mcp_records` (`uid`) WHERE uid is not null;--> statement-breakpoint
CREATE INDEX `mcp_records_expiry` ON `mcp_records` (`expires_at`) WHERE expires_at is not null;--> statement-breakpoint
CREATE TABLE `suspended_calls` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`process_id` text NOT NULL,
	`status` text NOT NULL,
	`payload` text NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `suspended_calls_expiry` ON `suspended_calls` (`expires_at`);--> statement-breakpoint
CREATE TABLE `toolsets` (
	`project_id` text NOT NULL,
	`id` text NOT NULL,
	`tools` text,
	`namespaces` text,
	`tags` text,
	`providers` text,
	`names` text NOT NULL,
	`instructions` text,
	`listing` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`project_id`, `id`),
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
ALTER TABLE `api_keys` ADD `user_id` text;