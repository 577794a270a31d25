CREATE TABLE `chains` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`state` text NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `chains_expiry` ON `chains` (`expires_at`);--> statement-breakpoint
CREATE TABLE `executions` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`user_id` text,
	`tool_id` text NOT NULL,
	`type` text NOT NULL,
	`entry_point` text NOT NULL,
	`status` text NOT NULL,
	`outcome` text,
	`error_kind` text,
	`api_key_id` text,
	`run_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`started_at` integer,
	`finished_at` integer,
	`duration_ms` integer,
	`attempts` integer NOT NULL,
	`request` text,
	`result` text,
	`lease_owner` text,
	`lease_until` integer,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `executions_project` ON `executions` (`project_id`,`id`);--> statement-breakpoint
CREATE INDEX `executions_user` ON `executions` (`project_id`,`user_id`,`id`);--> statement-breakpoint
CREATE INDEX `executions_tool` ON `executions` (`project_id`,`tool_id`,`id`);--> statement-breakpoint
CREATE INDEX `executions_put_off` ON `executions` (`project_id`,`id`) WHERE type = 'scheduled';--> statement-breakpoint
CREATE INDEX `executions_due` ON `executions` (`run_at`) WHERE status = 'scheduled';--> statement-breakpoint
CREATE INDEX `executions_lease` ON `executions` (`lease_until`) WHERE status = 'running';--> statement-breakpoint
CREATE INDEX `executions_end` ON `executions` (`finished_at`);--> statement-breakpoint
CREATE TABLE `policies` (
	`uid` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`id` text NOT NULL,
	`description` text,
	`enabled` integer NOT NULL,
	`effect` text NOT NULL,
	`matches` text NOT NULL,
	`hook` text,
	`hook_secret` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `policies_id` ON `policies` (`project_id`,`id`);--> statement-breakpoint
ALTER TABLE `tools` ADD `tags` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `tools` ADD `annotations` text;--> statement-breakpoint
ALTER TABLE `tools` ADD `meta` text;--> statement-breakpoint
ALTER TABLE `tools` ADD `icons` text;--> statement-breakpoint
ALTER TABLE `workers` ADD `settings` text DEFAULT '{}' NOT NULL;